//! Deciding: meaning, questions and their answers, debounce and the way back (R-1 to R-14, M-B4, M-E1, M-E2, X-1).

use super::script::{Stage, play, stage_on};
use segue_core::decision::{Action, Cause};
use segue_core::message::Role;
use segue_core::observed::Answer;
use segue_core::session::Number;
use segue_engine::request::Request;
use segue_store::memory::Memory;
use std::sync::Arc;

/// A conversation about bread that nobody would take for anything else.
pub(super) const BREAD: &str = "10:00 user: how long should sourdough bread rise before I bake it?
    10:00:10 assistant: Sourdough bread dough should rise four to six hours at room temperature before baking.
    10:01 user: and what temperature should the oven be for the sourdough loaf?
    10:01:10 assistant: Heat the oven to 230 degrees and bake the loaf in a closed pot for the first half.
    10:02 user: does the dough need more flour if it sticks to the bowl?
    10:02:10 assistant: A little flour on the bowl is enough; sticky sourdough dough is normal.";

/// A message about something else altogether.
pub(super) const SHIFT: &str =
    "my laptop does not boot since the last kernel update, grub shows error unknown filesystem";

pub(super) async fn after_bread(settings: &str, script: &str) -> Stage {
    play(settings, &format!("{BREAD}\n{script}")).await
}

/// M-B4, X-1: a topic shift above the threshold begins a session, says so, and says how to go back.
#[tokio::test]
async fn session_rollover_semantic_high_confidence() {
    let stage = after_bread("", &format!("10:04 user: {SHIFT} => new semantic #2")).await;
    assert_eq!(stage.texts(2).await, [SHIFT], "the message is the first one of its session");
    let notice = stage.last().notice.clone().unwrap();
    assert!(notice.contains("looks like a new topic") && notice.contains("/undo"), "{notice}");
    let observed = stage.last().observed.clone().unwrap();
    assert!(observed.meaning.shifts().unwrap().value() > 0.65, "{observed:?}");
    assert_eq!(observed.model.unwrap().name, "builtin");
    let explained = stage.engine.why(&*stage.state().await, 1).await.unwrap().remove(0).decision;
    assert_eq!((explained.rule.as_str(), explained.policy.as_str()), ("layered/shift", "layered"));
    assert!(explained.thresholds.is_some() && explained.version.is_some(), "{explained:?}");
    assert!(!explained.alternatives.is_empty(), "what would have tipped it is on record");
}

/// the same shift under `adaptive` is row 2 of 003: the user is asked.
#[tokio::test]
async fn r8_adaptive_asks_in_the_middle_of_a_conversation() {
    let stage =
        after_bread("lifecycle.policy = 'adaptive'", &format!("10:04 user: {SHIFT} => ask semantic #1"))
            .await;
    assert_eq!(stage.last().confidence.value(), 0.5);
    assert_eq!(stage.last().options(), [Answer::Continue, Answer::Fresh]);
}

/// `task` goes by time alone.
#[tokio::test]
async fn task_policy_has_the_timing_of_001() {
    let settings = "lifecycle.policy = 'task'";
    after_bread(settings, &format!("10:04 user: {SHIFT} => continue #1")).await;
    play(
        settings,
        "08:00 user: fix the parser => continue #1
         1d 08:00 user: exactly a day => continue #1
         2d 08:00:01 user: a day and a second => ask temporal #1
         2d 08:01 user: continue => continue intent #1
         9d 08:00:02 user: a week and a second => new temporal #2",
    )
    .await;
}

/// the bands of 003 from both sides and exactly on them, doubled while a question is open.
#[tokio::test]
async fn r6_adaptive_bands() {
    let settings = "lifecycle.policy = 'adaptive'\nlifecycle.question.cooldown = '1m'";
    play(
        settings,
        "00:00 user: note this down        => continue #1
         00:00 assistant: noted.
         00:59:59 user: ok                 => continue #1
         00:59:59 assistant: fine.
         01:59:59 user: ok                 => continue_reinject temporal #1
         01:59:59 assistant: fine.
         05:59:58 user: ok                 => continue_reinject temporal #1
         05:59:58 assistant: fine.
         09:59:58 user: ok                 => ask temporal #1
         09:59:59 user: continue           => continue intent #1
         09:59:59 assistant: fine.
         1d 09:59:58 user: ok              => ask temporal #1
         1d 09:59:58 assistant: fine.
         2d 09:59:59 user: ok              => new temporal #2",
    )
    .await;
    // A question that nobody answered keeps the session twice as long.
    play(
        settings,
        "00:00 user: note this down                   => continue #1
         00:00 assistant: which list do you want it on?
         07:59 user: hm                               => continue_reinject temporal #1",
    )
    .await;
}

/// Layered: the end of the day needs a gap of more than an hour, exactly an hour is not enough.
#[tokio::test]
async fn pinned_layered_nobody_is_cut_off_at_midnight() {
    play("", "23:59 user: late => continue #1\n1d 00:01 user: still here => continue #1").await;
    play("", "23:30 user: late => continue #1\n1d 00:30 user: an hour => continue_reinject temporal #1")
        .await;
    play("", "23:30 user: late => continue #1\n1d 00:30:01 user: more => new temporal #2").await;
}

/// "fresh" makes the held message the first one of a new session, in words, by command and by option.
#[tokio::test]
async fn r14_fresh_begins_with_the_held_message() {
    let settings = "lifecycle.policy = 'adaptive'";
    for answer in ["fresh", "start fresh please", "/fresh", "2", "重新开始"] {
        let stage =
            after_bread(settings, &format!("10:04 user: {SHIFT} => ask semantic #1\n10:05 user: {answer}"))
                .await;
        let outcome = stage.last();
        assert_eq!((outcome.action, outcome.session), (Action::New, Number(2)), "{answer}");
        assert_eq!(stage.texts(2).await, [SHIFT], "{answer}");
        assert_eq!(stage.texts(1).await.len(), 6, "{answer}");
        stage.verify().await;
    }
    let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
    stage.play(&format!("{BREAD}\n10:04 user: {SHIFT}")).await;
    let at = "2026-03-01T10:05:00Z".parse().unwrap();
    let outcome = stage.engine.request(&stage.scope, at, &Request::Answer(Answer::Fresh)).await.unwrap();
    assert_eq!((outcome.action, outcome.session), (Action::New, Number(2)));
    let undone = stage.say("10:06 user: /undo").await;
    assert_eq!(undone.session, Number(1));
    assert_eq!(stage.texts(1).await.last().unwrap(), SHIFT, "as if it had never been split");
}

/// "continue", or any other message instead of an answer, leaves it where it was sent, in order.
#[tokio::test]
async fn r14_continue_and_silence_leave_it_where_it_was_sent() {
    let settings = "lifecycle.policy = 'adaptive'";
    for answer in ["continue", "same topic", "/continue", "1", "继续"] {
        let script = format!("10:04 user: {SHIFT} => ask semantic #1\n10:05 user: {answer}");
        let stage = after_bread(settings, &script).await;
        assert_eq!((stage.last().action, stage.last().session), (Action::Continue, Number(1)), "{answer}");
        assert_eq!(
            stage.texts(1).await.last().unwrap(),
            SHIFT,
            "an answer is no message of the conversation"
        );
    }
    let more = "it is a thinkpad with btrfs and grub, the kernel update was yesterday";
    let script = format!("10:04 user: {SHIFT} => ask semantic #1\n10:05 user: {more} => continue #1");
    let stage = after_bread(settings, &script).await;
    let texts = stage.texts(1).await;
    assert_eq!(texts[texts.len() - 2..], [SHIFT, more]);
    assert!(stage.state().await.extras.question.is_none(), "it is settled");
    let reply = stage_answer_when_nothing_is_asked().await;
    assert_eq!(reply, "There is no question to answer.");
}

async fn stage_answer_when_nothing_is_asked() -> String {
    let stage = play("", "10:00 user: hello\n10:01 user: /fresh => refused command #1").await;
    stage.reply().to_owned()
}

/// at most one question in a cooldown, and never a second one about the same message.
#[tokio::test]
async fn r14_one_question_in_a_cooldown() {
    let other = "which shares paid the highest dividend on the stock exchange last year?";
    for (cooldown, then) in [("10m", "continue #1"), ("30s", "ask semantic #1")] {
        let settings = format!("lifecycle.policy = 'adaptive'\nlifecycle.question.cooldown = '{cooldown}'");
        let script = format!(
            "10:04 user: {SHIFT} => ask semantic #1
             10:04:20 user: continue => continue intent #1
             10:05 user: {other} => {then}"
        );
        after_bread(&settings, &script).await;
    }
}

/// R-14, propose first: the message goes on and is answered; "fresh" splits at it and takes the answer along.
#[tokio::test]
async fn r14_layered_proposes_and_fresh_takes_the_answer_along() {
    let answer = "Boot from a live medium and reinstall grub.";
    let script = format!(
        "10:04 user: {SHIFT} => continue semantic #1
         10:04:10 assistant: {answer}"
    );
    for fresh in ["/fresh", "start fresh please", "重新开始"] {
        let mut stage = after_bread("lifecycle.shift.threshold = 0.9999", &script).await;
        let offer = stage.outcomes.iter().rev().find_map(|outcome| outcome.notice.clone()).unwrap();
        assert_eq!(offer, "New topic? /fresh starts a session with this message.");
        let outcome = stage.say(&format!("10:05 user: {fresh}")).await;
        assert_eq!((outcome.action, outcome.session), (Action::New, Number(2)), "{fresh}");
        assert_eq!(stage.texts(2).await, [SHIFT, answer], "{fresh}");
        assert_eq!(stage.texts(1).await.len(), 6, "{fresh}");
        stage.verify().await;
    }
    // Who goes on says so to the agent, not to us.
    for on in ["2", "no", "continue"] {
        let mut stage = after_bread("lifecycle.shift.threshold = 0.9999", &script).await;
        let outcome = stage.say(&format!("10:05 user: {on}")).await;
        assert_eq!((outcome.action, outcome.session), (Action::Continue, Number(1)), "{on}");
        assert_eq!(stage.texts(1).await.last().unwrap(), on);
    }
}

/// a question survives a restart, and so does its answer's meaning.
#[tokio::test]
async fn r14_a_question_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(segue_store::sqlite::Sqlite::open(&folder.path().join("segue.db")).unwrap());
    let settings = "lifecycle.policy = 'adaptive'";
    let mut stage = stage_on(open(), settings).await;
    stage.play(&format!("{BREAD}\n10:04 user: {SHIFT} => ask semantic #1")).await;
    drop(stage);
    let mut stage = stage_on(open(), settings).await;
    stage.play("10:30 user: fresh => new intent #2").await;
    assert_eq!(stage.texts(2).await, [SHIFT]);
    stage.verify().await;
}

/// M-E1: many shifts in the cooldown, at most one rotation.
#[tokio::test]
async fn semantic_rollover_debounce() {
    let settings = "lifecycle.policy = 'segmented'\nlifecycle.shift.cooldown = '10m'";
    let script = format!(
        "10:04 user: {SHIFT}
         10:05 user: which shares paid the highest dividend on the stock exchange last year?
         10:06 user: who won the football world cup final in 1974?
         10:07 user: what is a good name for a black and white kitten?
         10:08 user: how do I remove red wine stains from a woollen carpet?"
    );
    let stage = after_bread(settings, &script).await;
    let rotations = stage.outcomes.iter().filter(|outcome| outcome.action == Action::New).count();
    assert_eq!(rotations, 1, "{:?}", stage.outcomes.iter().map(|o| o.action).collect::<Vec<_>>());
}

/// M-E2: a misfire is taken back by `/undo`, by words, or by what is said next; nothing is lost, nothing is twice.
#[tokio::test]
async fn semantic_rollover_reversible() {
    for back in ["/undo", "undo", "no, same topic", "不是，还是刚才那个话题"] {
        let stage =
            after_bread("", &format!("10:04 user: {SHIFT} => new semantic #2\n10:05 user: {back}")).await;
        assert_eq!((stage.last().action, stage.last().session), (Action::Merge, Number(1)), "{back}");
        let texts = stage.texts(1).await;
        assert_eq!(texts[6], SHIFT, "{back}");
        assert_eq!(texts.iter().filter(|text| *text == SHIFT).count(), 1, "{back}");
        stage.verify().await;
    }
    let next = "back to the sourdough: should the bread dough rise in the fridge before I bake the loaf?";
    let script = format!("10:04 user: {SHIFT} => new semantic #2\n10:05 user: {next} => merge semantic #1");
    let stage = after_bread("", &script).await;
    assert_eq!(stage.texts(1).await[6..], [SHIFT.to_owned(), next.to_owned()]);
    let notice = stage.last().notice.clone().unwrap();
    assert!(notice.contains("belongs to what we talked about before"), "{notice}");
}

/// who comes back to an earlier topic is offered its session, and the held message goes there.
#[tokio::test]
async fn r11_returning_offers_the_older_session() {
    let script = format!(
        "10:04 user: /new
         10:05 user: {SHIFT} => continue #2
         10:05:10 assistant: Boot from a live medium and reinstall grub on the btrfs filesystem of the laptop.
         10:20 user: grub install says the efi partition is not mounted on the laptop
         10:20:10 assistant: Mount the efi partition under boot and run grub install again.
         10:40 user: how long should the sourdough bread rise in the fridge before I bake the loaf? => ask semantic #2"
    );
    let mut stage = after_bread("lifecycle.question = 'hold'", &script).await;
    assert_eq!(stage.last().options(), Answer::ALL);
    let notice = stage.last().notice.clone().unwrap();
    assert!(notice.contains("go back to #1 \""), "{notice}");
    stage.play("10:41 user: the old one => resume intent #1").await;
    assert_eq!(stage.texts(1).await.len(), 7, "the message went along");
    assert_eq!(stage.texts(2).await.len(), 4);
    stage.play("10:42 user: /undo => resume command #2").await;
    assert_eq!(stage.texts(1).await.len(), 6);
    assert_eq!(stage.texts(2).await.len(), 5, "and comes back");
    stage.verify().await;
}

/// R-11, J-3: by default the message goes on, and `/older` takes it and its answer to the session that it belongs to.
#[tokio::test]
async fn r11_returning_offers_the_older_session_and_goes_on() {
    let question = "how long should the sourdough bread rise in the fridge before I bake the loaf?";
    let answer = "Eight to twelve hours.";
    let script = format!(
        "10:04 user: /new
         10:05 user: {SHIFT} => continue #2
         10:05:10 assistant: Boot from a live medium and reinstall grub on the btrfs filesystem of the laptop.
         10:20 user: grub install says the efi partition is not mounted on the laptop
         10:20:10 assistant: Mount the efi partition under boot and run grub install again.
         10:40 user: {question} => continue semantic #2
         10:40:10 assistant: {answer}"
    );
    let mut stage = after_bread("", &script).await;
    let offered = stage.outcomes.iter().rev().find(|outcome| outcome.suggestion().is_some()).unwrap();
    assert!(offered.wants_reply() && offered.options().is_empty(), "{offered:?}");
    let suggestion = offered.suggestion().unwrap();
    assert!(suggestion.text.contains("/older takes it back to #1"), "{}", suggestion.text);
    let answers: Vec<Answer> = suggestion.options.iter().map(|choice| choice.answer).collect();
    assert_eq!(answers, [Answer::Fresh, Answer::Older]);
    stage.play("10:41 user: /older => resume command #1").await;
    assert_eq!(stage.texts(1).await[6..], [question.to_owned(), answer.to_owned()]);
    assert_eq!(stage.texts(2).await.len(), 4);
    stage.verify().await;
}

/// R-11, M-E2: who comes back after another matter that was answered is taken back; that matter keeps its session.
#[tokio::test]
async fn r11_coming_back_after_an_answered_detour_resumes() {
    let next = "should the sourdough bread dough rise in the fridge before I bake the loaf?";
    let script = format!(
        "10:04 user: {SHIFT} => new semantic #2
         10:04:10 assistant: Boot from a live medium and reinstall grub.
         10:06 user: {next} => resume semantic #1"
    );
    let mut stage = after_bread("", &script).await;
    assert_eq!(stage.texts(1).await[6..], [next.to_owned()]);
    assert_eq!(stage.texts(2).await.len(), 2);
    stage.play("10:07 user: /undo => resume command #2").await;
    stage.verify().await;
}

/// M-B2: the same topic in the morning goes on with an offer; another topic begins a session and offers the old one.
#[tokio::test]
async fn m_b2_the_words_decide_after_a_night() {
    let same = "1d 08:00 user: and how long should the sourdough dough rise if the kitchen is cold? => continue_reinject temporal #1";
    let stage = after_bread("", same).await;
    assert_eq!(stage.last().notice.as_deref(), Some("New topic? /fresh starts a session with this message."));
    assert!(stage.last().wants_reply());
    let stage = after_bread("", &format!("1d 08:00 user: {SHIFT} => new temporal #2")).await;
    let notice = stage.last().notice.clone().unwrap();
    assert!(notice.contains("\"same topic\") goes back to #1"), "{notice}");
    let mut stage = after_bread("lifecycle.question = 'hold'", "").await;
    let held = stage.say("1d 08:00 user: and how long should the dough rise if the kitchen is cold?").await;
    assert_eq!((held.action, held.wants_reply()), (Action::Ask, false));
}

/// a full window begins a session with a summary, as a system message that names its parent.
#[tokio::test]
async fn r5_a_full_window_carries_a_summary_over() {
    let long = "the sourdough bread dough should rise until it has doubled ".repeat(60);
    let script = format!(
        "10:03 user: let's go with the rye flour from Bauer mill, 500 g
         10:03:10 assistant: {long}
         10:04 user: how long should the rye sourdough bread rise then? => new_carry_over context #2"
    );
    let stage = after_bread("context.window = 1000", &script).await;
    let state = stage.state().await;
    let told = stage.engine.messages(&state, Number(2), 10).await.unwrap();
    assert_eq!(told[0].role, Role::System);
    assert_eq!(told[0].message.as_ref().unwrap().carried_from, Some(Number(1)));
    assert!(told[0].text.contains("sourdough"), "{}", told[0].text);
    assert_eq!(state.sessions.get(&Number(2)).unwrap().parent, Some(Number(1)));
    assert_eq!(stage.texts(1).await.len(), 8, "X-6: nothing is deleted by it");
    assert!(stage.last().notice.clone().unwrap().contains("summary"));
}

/// a conversation that is stuck offers rephrasing, or a new start with a summary.
#[tokio::test]
async fn r7_stuck_offers_a_fresh_start_with_a_summary() {
    let script = "10:03 user: no, that is wrong
         10:03:10 assistant: Then knead the sourdough bread dough longer.
         10:04 user: still wrong
         10:04:10 assistant: Then use more water in the bread dough.
         10:05 user: no no, not this";
    let mut stage = after_bread("lifecycle.question.cooldown = '1m'", script).await;
    let asked = stage.outcomes.iter().any(|o| (o.action, o.cause) == (Action::Ask, Cause::Health));
    assert!(asked, "{:?}", stage.outcomes.iter().map(|o| (o.action, o.cause)).collect::<Vec<_>>());
    if stage.last().action != Action::Ask {
        return;
    }
    let fresh = stage.say("10:06 user: fresh").await;
    assert_eq!(fresh.action, Action::NewCarryOver);
}

/// R-12, M-B1: `never` keeps everything in one session, `/new` still works, and words still ask.
#[tokio::test]
async fn r12_never_moves_nothing_by_itself() {
    let script = format!(
        "10:04 user: {SHIFT} => continue #1\n3d 10:00 user: later => continue #1\n3d 10:01 user: /new"
    );
    let stage = after_bread("lifecycle.auto_route = 'never'", &script).await;
    assert_eq!(stage.last().session, Number(2));
}

/// A policy can be chosen for an agent, a scope or a user.
#[tokio::test]
async fn policies_are_chosen_per_agent_scope_and_user() {
    let shift = format!("10:04 user: {SHIFT} => ask semantic #1");
    after_bread("[agents.main]\nlifecycle.policy = 'adaptive'", &shift).await;
    after_bread("[scopes.'agent:main:cli:direct:me']\nlifecycle.policy = 'adaptive'", &shift).await;
    after_bread("[users.'cli:me']\nlifecycle.policy = 'adaptive'", &shift).await;
}

/// The same log leads to the same decision, whether it was followed message by message or read back.
#[tokio::test]
async fn a_restart_changes_no_decision() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let lines: Vec<&str> = BREAD.lines().map(str::trim).collect();
    let mut kept = stage_on(Arc::new(Memory::default()), "").await;
    for line in lines.iter().chain([&&*format!("10:04 user: {SHIFT}")]) {
        let expected = kept.say(line).await;
        let mut restarted = stage_on(Arc::new(segue_store::sqlite::Sqlite::open(&path).unwrap()), "").await;
        let found = restarted.say(line).await;
        assert_eq!(found.observed, expected.observed, "{line}");
        assert_eq!((found.action, found.cause), (expected.action, expected.cause), "{line}");
    }
}
