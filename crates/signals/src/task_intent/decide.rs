//! From acts and relation to an intent, by the state of the task.

use super::acts::{Act, Acts};
use super::{MessageIntent, Relation, TaskState};

/// Above this cosine a message is about the task even if it shares no word with it.
const NEAR: f32 = 0.45;
/// Below this cosine, without a shared word, it is about something else.
const FAR: f32 = 0.25;

type Answer = (MessageIntent, f32, &'static str);

pub(super) fn decide(state: TaskState, acts: &Acts, relation: &Relation) -> Answer {
    if acts.wordless {
        return if acts.cheers {
            (MessageIntent::Confirmation, 0.7, "a sign of approval")
        } else {
            (MessageIntent::Unclear, 0.9, "no words")
        };
    }
    match state {
        TaskState::None | TaskState::Complete | TaskState::Aborted => without_task(acts),
        TaskState::AwaitingUser => awaiting(acts, relation),
        TaskState::Running | TaskState::Interrupted => working(acts, relation),
        TaskState::PendingComplete => finishing(acts, relation),
    }
}

fn without_task(acts: &Acts) -> Answer {
    if acts.has(Act::Speak) {
        (MessageIntent::NewTask, 0.9, "there is no task, and something is wanted")
    } else if acts.has(Act::Drop) {
        (MessageIntent::Abandon, 0.7, "says to stop, and there is nothing to stop")
    } else if acts.has(Act::Accept) {
        (MessageIntent::Confirmation, 0.8, "thanks or agrees")
    } else {
        (MessageIntent::Unclear, 0.8, "there is no task, and nothing is wanted")
    }
}

/// Something to do that has nothing to do with the task.
fn elsewhere(acts: &Acts, relation: &Relation) -> bool {
    let far = relation.shared == 0 && relation.meaning < FAR && relation.content >= 2;
    let wants = acts.requests || acts.asks || acts.spoken >= 5;
    far && wants && !relation.points_back
}

fn dropped(acts: &Acts, relation: &Relation) -> Option<Answer> {
    if !acts.has(Act::Drop) {
        return None;
    }
    if !acts.has(Act::Speak) {
        return Some((MessageIntent::Abandon, 0.95, "says to stop"));
    }
    let related = relation.shared > 0 || relation.meaning > NEAR;
    Some(if acts.marks_change && related {
        (MessageIntent::Modification, 0.7, "drops a part and asks for another way")
    } else if acts.requests || acts.marks_new {
        (MessageIntent::NewTask, 0.8, "drops the task and names another")
    } else {
        (MessageIntent::Abandon, 0.85, "says to stop, and why")
    })
}

fn awaiting(acts: &Acts, relation: &Relation) -> Answer {
    if let Some(answer) = dropped(acts, relation) {
        return answer;
    }
    if acts.only(&[Act::Hesitate]) {
        return (MessageIntent::Unclear, 0.8, "says nothing yet");
    }
    if !acts.has(Act::Speak) {
        return (MessageIntent::Response, 0.9, "answers the question in a word");
    }
    if acts.marks_new && relation.shared_question == 0 {
        return (MessageIntent::NewTask, 0.85, "says that something else is wanted");
    }
    if elsewhere(acts, relation) && acts.requests {
        return (MessageIntent::NewTask, 0.7, "wants something that is neither the task nor an answer");
    }
    (MessageIntent::Response, 0.8, "a question is open, and nothing speaks against an answer")
}

fn working(acts: &Acts, relation: &Relation) -> Answer {
    if let Some(answer) = dropped(acts, relation) {
        return answer;
    }
    if !acts.has(Act::Speak) {
        return said_little(acts);
    }
    if acts.marks_new {
        return (MessageIntent::NewTask, 0.85, "says that something else is wanted");
    }
    if elsewhere(acts, relation) {
        return (MessageIntent::NewTask, 0.75, "wants something unrelated to the task");
    }
    (MessageIntent::Modification, 0.8, "speaks about the task")
}

fn finishing(acts: &Acts, relation: &Relation) -> Answer {
    if let Some(answer) = dropped(acts, relation) {
        return answer;
    }
    if !acts.has(Act::Speak) {
        return said_little(acts);
    }
    if acts.marks_new {
        return (MessageIntent::NewTask, 0.85, "says that something else is wanted");
    }
    if elsewhere(acts, relation) {
        return (MessageIntent::NewTask, 0.75, "wants something unrelated to the task");
    }
    if acts.moves_on && acts.requests && !relation.points_back && relation.shared == 0 {
        return (MessageIntent::NewTask, 0.65, "moves on to the next thing");
    }
    (MessageIntent::Modification, 0.8, "wants more of the task, or something in it changed")
}

fn said_little(acts: &Acts) -> Answer {
    if acts.has(Act::Accept) {
        (MessageIntent::Confirmation, 0.9, "accepts the work")
    } else if acts.has(Act::Answer) {
        (MessageIntent::Modification, 0.5, "says no to what there is")
    } else {
        (MessageIntent::Unclear, 0.8, "says nothing yet")
    }
}
