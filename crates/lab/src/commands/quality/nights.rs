//! The same topic after a night: a conversation is broken off, and its next message comes in the morning.

use super::play::{Did, Player, did};
use super::streams::Stream;
use jiff::SignedDuration;
use segue_core::message::Role;
use segue_core::notice::{Notice, Undoable};
use segue_engine::config::Config;

/// Evening to morning: longer than the window of activity, and past midnight.
const NIGHT: SignedDuration = SignedDuration::from_hours(13);
/// The evening before: streams begin at eight in the morning or later.
const EVENING: SignedDuration = SignedDuration::from_hours(10);

/// What was done with a message in the morning.
pub struct Morning {
    /// Whether it goes on with what was said.
    pub same: bool,
    pub did: Did,
    /// Whether the person is told of the other way.
    pub offered: bool,
}

/// Breaks a stream off before a message that goes on, and before one that does not.
pub async fn mornings(config: &Config, stream: &Stream) -> anyhow::Result<Vec<Morning>> {
    let mut found = Vec::new();
    let users: Vec<usize> = (1..stream.turns.len()).filter(|&at| stream.turns[at].is_user()).collect();
    for wanted in [false, true] {
        let fits = |at: &&usize| {
            let turn = &stream.turns[**at];
            turn.is_new() == wanted && turn.returns_to.is_none() && turn.hard.as_deref() != Some("greeting")
        };
        // The middle one: something was said before it.
        let fitting: Vec<&usize> = users.iter().filter(fits).collect();
        let Some(&&at) = fitting.get(fitting.len() / 2) else { continue };
        found.push(morning(config, stream, at).await?);
    }
    Ok(found)
}

async fn morning(config: &Config, stream: &Stream, at: usize) -> anyhow::Result<Morning> {
    let player = Player::new(config, stream).await?;
    let message = &stream.turns[at];
    // The conversation before it alone, so that no other mistake counts.
    let before = &stream.turns[..at];
    let conv = before.last().map(|turn| turn.conv);
    let begins = before.iter().rposition(|turn| Some(turn.conv) != conv).map_or(0, |other| other + 1);
    let end = before.last().map_or(message.at, |turn| turn.at);
    for turn in &before[begins..] {
        let outcome = player.say(turn.at + EVENING, turn.role()?, &turn.text).await?;
        if matches!(did(&outcome), Did::Split) {
            player.say(turn.at + EVENING, Role::User, "/undo").await?;
        }
    }
    let outcome = player.say(end + EVENING + NIGHT, message.role()?, &message.text).await?;
    let offered = match &outcome.announces {
        Some(Notice::Expired { way_back, .. } | Notice::Shifted { way_back, .. }) => {
            *way_back == Undoable::Open
        }
        Some(Notice::Question { .. } | Notice::Offer { .. }) => true,
        _ => false,
    };
    Ok(Morning { same: !message.is_new(), did: did(&outcome), offered })
}
