//! Every threshold from both sides and exactly on it.

use super::*;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::evidence::{Health, Semantic, Window};
use crate::observed::{
    Answers, Condition, Earlier, Filling, Grounds, LastWord, Meaning, PauseAllowance, Share, Work,
};
use crate::policy::QuestionMode;
use crate::session;
use jiff::SignedDuration;

const SAID: &str = "2026-03-01T10:00:00Z";

struct Case {
    policy: Policy,
    extras: ScopeExtras,
    errand: OpenTask,
    after: SignedDuration,
    observed: Observed,
}

impl Case {
    fn new(rule: Rule) -> Self {
        Self {
            policy: Policy { rule, ..Policy::default() },
            extras: ScopeExtras::default(),
            errand: OpenTask::None,
            after: SignedDuration::from_mins(5),
            observed: Observed::default(),
        }
    }

    fn after(self, after: SignedDuration) -> Self {
        Self { after, ..self }
    }

    fn shifts(mut self, shifts: f64) -> Self {
        let belongs = Share::new(1.0 - shifts);
        let band = match belongs.value() {
            value if value > 0.7 => Semantic::High,
            value if value < 0.3 => Semantic::Low,
            _ => Semantic::Medium,
        };
        self.observed.meaning = Meaning { band, belongs: Some(belongs), evidence: String::new() };
        self.observed.grounds = Grounds::Words;
        self
    }

    fn window(mut self, band: Window, percent: u32) -> Self {
        self.observed.window = Filling { band, percent };
        self
    }

    fn weigh(&self) -> RuleResult {
        let said: Timestamp = SAID.parse().unwrap();
        let open = segment::Open {
            number: segment::Number::FIRST,
            session: session::Number::FIRST,
            first: Seq(1),
            messages: 1,
            digest: Digest::NONE,
            opened_at: said,
            last_user_at: Some(said),
            updated_at: said,
            view_from: Seq(1),
            view_skips: 0,
        };
        let (policy, extras, errand) = (&self.policy, &self.extras, self.errand);
        weigh(&RuleInputs { policy, open: &open, extras, errand, now: said + self.after }, &self.observed)
    }

    fn action(&self) -> (Action, Cause) {
        let weighed = self.weigh();
        (weighed.action, weighed.cause)
    }
}

const STAYS: (Action, Cause) = (Action::Continue, Cause::None);
const SHIFTED: (Action, Cause) = (Action::New, Cause::Semantic);
const ASKED: (Action, Cause) = (Action::Ask, Cause::Semantic);

/// M-B4: the threshold of a shift is strict.
#[test]
fn m_b4_a_shift_must_be_above_the_threshold() {
    for rule in [Rule::Segmented, Rule::Layered] {
        let at = |shifts| Case::new(rule).shifts(shifts).action();
        assert_ne!(at(0.65), SHIFTED, "{rule:?}");
        assert_eq!(at(0.651), SHIFTED, "{rule:?}");
    }
    assert_eq!(Case::new(Rule::Segmented).shifts(0.65).action(), STAYS);
    assert_eq!(Case::new(Rule::Task).shifts(1.0).action(), STAYS, "`task` goes by time alone");
}

/// so is the threshold of a question under `layered`; `segmented` never asks.
#[test]
fn r14_doubt_must_be_above_the_threshold() {
    assert_eq!(Case::new(Rule::Layered).shifts(0.45).action(), STAYS);
    assert_eq!(Case::new(Rule::Layered).shifts(0.451).action(), ASKED);
    assert_eq!(Case::new(Rule::Layered).shifts(0.65).action(), ASKED);
    for shifts in [0.0, 0.451, 0.65] {
        assert_eq!(Case::new(Rule::Segmented).shifts(shifts).action(), STAYS);
    }
}

/// Unknown never causes a boundary by itself, under no policy.
#[test]
fn pinned_unknown_moves_nothing() {
    for (_, rule) in Rule::ALL {
        assert_eq!(Case::new(*rule).action(), STAYS, "{rule:?}");
    }
}

/// M-E1: exactly at the end of the cooldown it is still held back, a millisecond later it is not.
#[test]
fn m_e1_the_cooldown_is_inclusive() {
    let mut case = Case::new(Rule::Segmented).shifts(0.99);
    let said: Timestamp = SAID.parse().unwrap();
    case.extras.shifted_at = Some(said);
    case.extras.asked_at = Some(said);
    case.policy.question.cooldown = SignedDuration::from_hours(1);
    case.after = case.policy.shift.cooldown;
    let weighed = case.weigh();
    assert_eq!((weighed.action, weighed.cause), STAYS, "{weighed:?}");
    case.after = case.policy.shift.cooldown + SignedDuration::from_millis(1);
    assert_eq!(case.action(), SHIFTED);
    // Where a question may be asked, a shift that is held back asks.
    case.after = case.policy.shift.cooldown;
    case.extras.asked_at = None;
    assert_eq!(case.action(), ASKED);
    case.extras.asked_at = Some(said);
    case.policy.question.cooldown = case.policy.shift.cooldown - SignedDuration::from_millis(1);
    assert_eq!(case.action(), ASKED);
}

/// above 95 percent a session is forced, whatever the policy and the topic.
#[test]
fn r4_an_emergency_forces_a_session() {
    for (_, rule) in Rule::ALL {
        let case = Case::new(*rule).shifts(0.0).window(Window::Emergency, 96);
        assert_eq!(case.action(), (Action::NewCarryOver, Cause::Context), "{rule:?}");
    }
    let case = Case::new(Rule::Segmented).shifts(0.0).window(Window::Critical, 95);
    assert_eq!(case.action(), STAYS, "000 knows no other rule about the window");
    let case = Case::new(Rule::Layered).shifts(0.0).window(Window::Critical, 81);
    assert_eq!(case.action(), (Action::NewCarryOver, Cause::Context));
    let case = Case::new(Rule::Layered).shifts(0.0).window(Window::Warning, 60);
    assert_eq!(case.action(), (Action::ContinueSummarize, Cause::Context));
}

/// coding and an open question each double the limits of 003.
#[test]
fn r6_patience_doubles_the_limits() {
    let hours = SignedDuration::from_hours;
    let second = SignedDuration::from_secs(1);
    let mut case = Case::new(Rule::Adaptive).after(hours(24) + second);
    assert_eq!(case.action(), (Action::New, Cause::Temporal));
    case.observed.patience = PauseAllowance { work: Work::Coding, last_word: LastWord::Settled };
    assert_eq!(case.action(), (Action::Ask, Cause::Temporal));
    case.observed.patience = PauseAllowance { work: Work::Coding, last_word: LastWord::OpenQuestion };
    case.after = hours(16) - second;
    assert_eq!(case.action(), (Action::ContinueReinject, Cause::Temporal));
    case.after = hours(16);
    assert_eq!(case.action(), (Action::Ask, Cause::Temporal));
    case.after = hours(96) + second;
    assert_eq!(case.action(), (Action::New, Cause::Temporal));
}

/// C-11: the timing of 001 is strict, and `layered` follows it while a task is open.
#[test]
fn c11_open_work_survives_the_night() {
    let (hours, second) = (SignedDuration::from_hours, SignedDuration::from_secs(1));
    for (rule, errand) in [(Rule::Task, OpenTask::None), (Rule::Layered, OpenTask::Open)] {
        let at = |after| Case { errand, ..Case::new(rule).after(after) }.action();
        assert_eq!(at(hours(24)), STAYS);
        assert_eq!(at(hours(24) + second), (Action::Ask, Cause::Temporal));
        assert_eq!(at(hours(168)), (Action::Ask, Cause::Temporal));
        assert_eq!(at(hours(168) + second), (Action::New, Cause::Temporal));
    }
    assert_eq!(Case::new(Rule::Layered).after(hours(24)).action(), (Action::New, Cause::Temporal));
}

/// M-B2: past the window the words decide under `layered`; 000 to the letter does not ask them.
#[test]
fn m_b2_the_same_topic_after_a_night_goes_on_with_an_offer() {
    let night = SignedDuration::from_hours(14);
    let at = |rule, shifts| Case::new(rule).shifts(shifts).after(night).action();
    assert_eq!(at(Rule::Layered, 0.49), (Action::Ask, Cause::Temporal));
    assert_eq!(at(Rule::Layered, 0.5), (Action::New, Cause::Temporal));
    assert_eq!(at(Rule::Segmented, 0.01), (Action::New, Cause::Temporal));
    let mut case = Case::new(Rule::Layered).shifts(0.01).after(night);
    case.observed.grounds = Grounds::None;
    assert_eq!(case.action(), (Action::New, Cause::Temporal), "nothing to tell");
}

/// an answer to the agent's question goes on in the morning, except under 000 to the letter.
#[test]
fn x13_an_answer_goes_on_in_the_morning() {
    for (_, rule) in Rule::ALL {
        let mut case = Case::new(*rule).after(SignedDuration::from_hours(30));
        case.observed.answers = Answers::Agent;
        match rule {
            Rule::Segmented => assert_eq!(case.action(), (Action::New, Cause::Temporal)),
            Rule::Adaptive => assert_eq!(case.action(), (Action::ContinueReinject, Cause::Temporal)),
            Rule::Task | Rule::Layered => assert_eq!(case.action(), STAYS, "{rule:?}"),
        }
    }
}

/// a message that fits here, and much better elsewhere, goes on with an offer; it is not worth a question that holds it.
#[test]
fn r11_a_better_home_is_offered_and_never_held() {
    let mut case = Case::new(Rule::Layered).shifts(0.2);
    case.observed.earlier = Some(Earlier { session: Number(3), belongs: Share::new(0.99) });
    let weighed = case.weigh();
    assert_eq!((weighed.action, weighed.older), (Action::Ask, Some(Number(3))));
    case.policy.question.manner = QuestionMode::Hold;
    assert_eq!(case.action(), STAYS);
}

/// who comes back is offered the older session instead of a new one, unless we have just asked.
#[test]
fn r11_a_return_is_offered() {
    let mut case = Case::new(Rule::Segmented).shifts(0.99);
    let (session, belongs) = (Number(3), Share::new(0.9));
    case.observed.earlier = Some(Earlier { session, belongs });
    let weighed = case.weigh();
    assert_eq!((weighed.action, weighed.older), (Action::Ask, Some(session)));
    case.extras.asked_at = Some(SAID.parse().unwrap());
    case.after = case.policy.question.cooldown;
    assert_eq!(case.action(), SHIFTED);
}

/// a conversation that is stuck asks; with a new topic after a long pause it is new.
#[test]
fn r7_stuck_asks() {
    let mut case = Case::new(Rule::Layered).shifts(0.1);
    case.observed.health = Condition { band: Health::Bad, findings: Vec::new() };
    assert_eq!(case.action(), (Action::Ask, Cause::Health));
    let mut case = Case::new(Rule::Adaptive).shifts(0.8).after(SignedDuration::from_hours(5));
    case.observed.health = Condition { band: Health::Bad, findings: Vec::new() };
    assert_eq!(case.action(), SHIFTED);
}

/// what would have tipped it is on record, with what it was.
#[test]
fn r13_alternatives_say_what_would_have_tipped_it() {
    let weighed = Case::new(Rule::Layered).shifts(0.1).weigh();
    let tips: Vec<Counterfactual> = weighed.alternatives.iter().map(|alternative| alternative.tip).collect();
    let (border, was) = (Share::new(0.35), Share::new(0.9));
    let silence = Counterfactual::SilenceOver { limit_ms: 12 * 3_600_000, was_ms: 300_000 };
    assert_eq!(tips, [silence, Counterfactual::BelongsBelow { border, was }]);
}
