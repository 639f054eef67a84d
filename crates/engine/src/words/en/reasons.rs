//! Why something was decided, in English.

use super::duration;
use segue_core::decision::{Alternative, Reason, Tip};
use segue_core::evidence::Semantic;
use segue_core::notice::Since;
use segue_core::observed::{Ailment, Share};

pub(in crate::words) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::FirstMessage => "It is the first message here.".to_owned(),
        Reason::WithinWindow { gap_ms, window_ms, since: Since::Message } => format!(
            "Your last message was {} ago, on the same day, and a session stays fresh for {}.",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::WithinWindow { gap_ms, window_ms, since: Since::Opening } => format!(
            "You came to this session {} ago, on the same day, and a session stays fresh for {}.",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::WindowPassed { gap_ms, window_ms, since: Since::Message } => format!(
            "Your last message was {} ago, and a session stays fresh for {} only.",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::WindowPassed { gap_ms, window_ms, since: Since::Opening } => format!(
            "You said nothing in this session for {}, and a session stays fresh for {} only.",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::DayPassed { gap_ms, since: Since::Message } => {
            format!("A new day has begun since your last message, {} ago.", duration(*gap_ms))
        }
        Reason::DayPassed { since: Since::Opening, .. } => {
            "A new day has begun since this session was opened.".to_owned()
        }
        Reason::LegacyMode => "In legacy mode only commands move a session.".to_owned(),
        Reason::AutoRouteOff => "Automatic routing is off here: only commands move a session.".to_owned(),
        Reason::AskedInWords { phrase } => format!("You asked for it in words (\"{phrase}\")."),
        Reason::Belongs { band: Semantic::High, belongs } => {
            format!("It is about what this session is about ({}).", percent(*belongs))
        }
        Reason::Belongs { band: Semantic::Low, belongs } => {
            format!("It does not seem to belong to this session ({}).", percent(*belongs))
        }
        Reason::Belongs { band: Semantic::Medium | Semantic::Unknown, belongs } => {
            format!("It may or may not belong to this session ({}).", percent(*belongs))
        }
        Reason::Shifted { shifts, threshold } => format!(
            "It is about something else ({} sure, and {} are enough).",
            percent(*shifts),
            percent(*threshold)
        ),
        Reason::Paused { gap_ms, limit_ms, .. } => format!(
            "You were away for {}, and from {} on that matters.",
            duration(*gap_ms),
            duration(*limit_ms)
        ),
        Reason::WithinIdle { gap_ms, limit_ms, .. } => {
            format!("You were away for {}, and work may lie for {}.", duration(*gap_ms), duration(*limit_ms))
        }
        Reason::WindowAt { percent } => format!("The context is {percent} % full."),
        Reason::Stuck { findings } => {
            let found: Vec<&str> = findings.iter().map(|finding| ailment(*finding)).collect();
            format!("The conversation seems to be stuck: {}.", found.join(", "))
        }
        Reason::LikeEarlier { session, belongs } => {
            format!("It is like what session {session} was about ({}).", percent(*belongs))
        }
        Reason::ShiftedLately { ago_ms, cooldown_ms } => format!(
            "A session began because of its topic {} ago, and that happens only once in {}.",
            duration(*ago_ms),
            duration(*cooldown_ms)
        ),
        Reason::AskedLately { ago_ms, cooldown_ms } => format!(
            "You were asked {} ago, and we ask only once in {}.",
            duration(*ago_ms),
            duration(*cooldown_ms)
        ),
        Reason::Answered { answer } => format!("You answered our question: {}.", answer.name()),
        Reason::Objected => "You said that it is the same topic.".to_owned(),
        Reason::BelongsBefore { session, belongs } => {
            format!("It belongs to session {session}, which was left a moment ago ({}).", percent(*belongs))
        }
        Reason::ForTheTask { state, intent, source, does } => {
            super::tasks::reason(*state, *intent, *source, does)
        }
        Reason::ModelAsked { name } => format!("The model {name} was asked."),
        Reason::Commanded { command } => format!("The command \"{command}\" asked for it."),
    }
}

fn percent(share: Share) -> String {
    format!("{:.0} %", share.value() * 100.0)
}

fn ailment(finding: Ailment) -> &'static str {
    match finding {
        Ailment::ErrorLoop => "the same error again and again",
        Ailment::Frustration => "short negative answers in a row",
        Ailment::Contradiction => "contradictory answers",
        Ailment::DeadEnd => "no next step",
    }
}

/// Tells what would have tipped a decision.
pub(in crate::words) fn tip(alternative: &Alternative) -> String {
    let otherwise = super::action(alternative.action);
    match alternative.tip {
        Tip::SilenceOver { limit_ms, .. } => {
            format!("After {} it would have been {otherwise}.", duration(limit_ms))
        }
        Tip::SilenceUpTo { limit_ms, .. } => {
            format!("Up to {} it would have been {otherwise}.", duration(limit_ms))
        }
        Tip::BelongsBelow { border, was } => format!(
            "Had it belonged less than {} (it was {}), it would have been {otherwise}.",
            percent(border),
            percent(was)
        ),
        Tip::BelongsFrom { border, was } => format!(
            "Had it belonged at least {} (it was {}), it would have been {otherwise}.",
            percent(border),
            percent(was)
        ),
    }
}
