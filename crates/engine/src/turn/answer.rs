//! What a message of the person answers to a question or an offer of ours.

use crate::engine::Engine;
use crate::scope::session_profile::SessionProfile;
use segue_core::extras::{OFFER_MESSAGES, PendingQuestion};
use segue_core::observed::Answer;
use segue_core::policy::QuestionMode;
use segue_core::state::State;
use segue_signals::answer::{self, Choice, Offered, Reading, read_answer, read_answer_to_offer};
use segue_signals::intent::is_bare_wish;
use segue_signals::work;

impl Engine {
    /// Reads a message as the answer to what the person was asked or offered.
    pub(super) async fn answer_in_words(
        &self,
        state: &State,
        question: &PendingQuestion,
        profile: Option<&SessionProfile>,
        text: &str,
    ) -> Option<Answer> {
        let latest = state.latest()?;
        let offered = Offered { here: Some(latest.0), older: question.older.map(|older| older.0) };
        let reading = match question.manner {
            QuestionMode::Hold => read_answer(text, offered),
            QuestionMode::Propose => read_answer_to_offer(text, offered),
        };
        let answer = match reading {
            Reading::Answer(answer) => Some(answered(answer)),
            // An offer names one session besides the one in which the person is.
            Reading::Names(choice) if question.manner == QuestionMode::Hold || question.older.is_some() => {
                self.chosen(state, question, &choice).await
            }
            Reading::Names(_) | Reading::Other => None,
        };
        let agrees = || question.manner == QuestionMode::Propose && agrees_to(question, profile, text);
        // Who wants to start over while we ask wants it with the message that we ask about.
        answer.or_else(|| (agrees() || is_bare_wish(text)).then_some(Answer::Fresh))
    }

    /// Finds which of the sessions a choice names, by what they are about.
    async fn chosen(&self, state: &State, question: &PendingQuestion, choice: &Choice) -> Option<Answer> {
        let here = self.what_it_is_about(state, state.latest()?, Some(question.held)).await;
        let older = match question.older {
            Some(older) => Some(self.what_it_is_about(state, older, Some(question.held)).await),
            None => None,
        };
        choice.of(&here, older.as_ref()).map(answered)
    }
}

/// Whether a message says yes to "new topic?": that was offered with the message before, and nothing else was, and the agent asked
/// nothing since.
fn agrees_to(question: &PendingQuestion, profile: Option<&SessionProfile>, text: &str) -> bool {
    let is_next = question.messages_left == OFFER_MESSAGES && question.older.is_none();
    let was_asked =
        |profile: &SessionProfile| work::judge_last_word(profile.recent()) == work::LastWord::OpenQuestion;
    is_next && answer::agrees(text) && !profile.is_some_and(was_asked)
}

fn answered(answer: answer::Answer) -> Answer {
    match answer {
        answer::Answer::Continue => Answer::Continue,
        answer::Answer::Fresh => Answer::Fresh,
        answer::Answer::Older => Answer::Older,
    }
}
