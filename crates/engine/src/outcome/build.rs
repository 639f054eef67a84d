//! Builds the outcome: what came of a message, in words, now and when it is delivered again.

use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::history::StoredMessage;
use crate::outcome::{Delivery, Outcome, Wants};
use crate::turn::request::Request;
use crate::words::{self, Language, Titles};
use segue_core::decide::Decided;
use segue_core::decision::{Action, Cause, Confidence, Decision, Reason};
use segue_core::entry::{Body, Bytes, Kind, Record, Seq};
use segue_core::message::{ReplyEnd, Role};
use segue_core::notice::Notice;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::state::StateName;

/// How many entries behind a message its decision is looked for.
pub(crate) const DECISION_BEHIND_MAX: usize = 24;

impl Engine {
    pub(crate) fn outcome_of(&self, turn: &Turn, decided: Decided) -> Outcome {
        let state = &decided.state;
        let spoken = [decided.notice(), decided.warning()];
        let notice = in_words(turn, spoken);
        let open = state.open.as_ref().filter(|open| open.session == decided.session);
        let late = state.segments.last_key_value().map(|(number, _)| *number);
        Outcome {
            session: decided.session,
            session_id: state.sessions.get(&decided.session).map(|session| session.id),
            segment: open.map(|open| open.number).or(late),
            seq: decided.about,
            state: state.extras.task_state(decided.session),
            action: decided.action,
            cause: decided.cause,
            confidence: decided.confidence,
            announces: decided.notice().cloned(),
            also: decided.warning().cloned(),
            notice,
            reply: None,
            dropped: decided.dropped().collect(),
            because: decided.reasons,
            language: turn.language,
            observed: decided.observed,
            delivery: Delivery::First,
            wants: Wants::Nothing,
            scope: turn.scope.clone(),
        }
    }

    /// Tells whether the host is to answer a request that was done.
    pub(crate) async fn wanted(&self, request: &Request, outcome: &Outcome) -> Wants {
        let answered = outcome.because.iter().any(|reason| matches!(reason, Reason::Answered { .. }));
        let is_heard = match request {
            Request::Say(Role::User, _) | Request::Stated(..) | Request::Answer(_) => true,
            Request::New(first) => first.is_some(),
            _ => false,
        };
        let is_held = outcome.action == Action::Ask || outcome.state == StateName::Interrupted;
        if !is_heard || is_held || outcome.action == Action::Refused {
            return Wants::Nothing;
        }
        // The message that our question was about may have been answered before.
        let is_settled = answered || matches!(request, Request::Answer(_));
        match is_settled && self.is_answered(outcome).await {
            true => Wants::Nothing,
            false => Wants::Reply,
        }
    }

    /// Tells whether the newest message of the session is not the person's.
    pub(crate) async fn is_answered(&self, outcome: &Outcome) -> bool {
        let Ok(state) = self.state(&outcome.scope).await else { return false };
        let newest = self.messages(&state, outcome.session, 1).await.unwrap_or_default();
        let failed = |newest: &StoredMessage| {
            newest.message.as_ref().is_some_and(|message| message.end == ReplyEnd::Failed)
        };
        newest.last().is_some_and(|newest| newest.role != Role::User && !failed(newest))
    }

    /// Finds the answer that a message got when it was delivered first.
    pub(crate) async fn repeated_outcome(&self, turn: &Turn, seq: Seq) -> Result<Outcome, Error> {
        let state = self.state(&turn.scope).await?;
        let record = self.store.get(&turn.scope, seq).await?;
        let is_gone = record.as_ref().is_none_or(|record| matches!(record.bytes, Bytes::Erased(_)));
        let segment = record.as_ref().map(|record| record.segment);
        let behind = self.store.tail(&turn.scope, seq, DECISION_BEHIND_MAX).await?;
        let decided = behind.iter().enumerate().find_map(|(at, record)| match record.body() {
            Ok(Body::Decision(decision)) if decision.about == seq => Some((decision, record.segment, at)),
            _ => None,
        });
        let unmoved = unmoved(&state, turn.language, Action::Continue);
        let Some((decision, segment, at)) = decided.map(|(d, segment, at)| (d, Some(segment), at)) else {
            if is_gone {
                // Nobody can tell any more whether it says the same: it is refused with a word, never dropped in silence.
                let reply = Some(words::deleted_message(turn.language));
                let (action, delivery) = (Action::Refused, Delivery::Again);
                return Ok(Outcome { action, delivery, reply, seq: Some(seq), segment, ..unmoved });
            }
            // Nothing was decided about it: it stands where it was said.
            let holds =
                |number: &Number| segment.is_some_and(|segment| state.view(*number).hold(segment, seq));
            let session = state.all().map(|(number, _)| number).find(holds).unwrap_or(unmoved.session);
            let session_id = state.sessions.get(&session).map(|session| session.id);
            let delivery = Delivery::Again;
            return Ok(Outcome { session, session_id, seq: Some(seq), segment, delivery, ..unmoved });
        };
        let Decision {
            session,
            action,
            cause,
            confidence,
            reasons: because,
            notice: announces,
            also,
            refusal,
            signals: observed,
            task,
            ..
        } = *decision;
        // What a host did with a task is named by the entry that it made, not by the command that asked for it.
        let is_task = |record: &&Record| matches!(record.kind, Kind::Task | Kind::Observation | Kind::Asked);
        let made = behind.iter().take(at).rfind(|record| cause == Cause::Task && is_task(record));
        let is_command = record.as_ref().is_some_and(|record| record.kind == Kind::Command);
        let seq = made.filter(|_| is_command).map_or(seq, |record| record.seq);
        let notice = in_words(turn, [announces.as_ref(), also.as_ref()]);
        let session_id = state.sessions.get(&session).map(|s| s.id);
        let outcome = Outcome {
            session,
            session_id,
            segment,
            seq: Some(seq),
            state: task.unwrap_or(StateName::None),
            action,
            cause,
            confidence,
            because,
            observed,
            announces,
            also,
            notice,
            reply: refusal,
            delivery: Delivery::Again,
            ..unmoved
        };
        self.with_task_words(turn, outcome).await
    }

    /// Tells what was asked or offered last, if that can still be answered, for who comes back: after a restart, say.
    pub async fn open_question(&self, scope: &scope::Key) -> Result<Option<Outcome>, Error> {
        let Some(state) = self.find_state(scope).await? else { return Ok(None) };
        let Some(question) = state.extras.question.as_ref() else { return Ok(None) };
        let text = match self.store.get(scope, question.held).await?.map(|record| record.body()) {
            Some(Ok(Body::Message(_, message))) => message.text,
            // It was erased, or cannot be read: the question can still be answered.
            _ => String::new(),
        };
        let turn = self.turn(scope.clone(), None, self.now(), &text);
        let mut outcome = self.repeated_outcome(&turn, question.held).await?;
        self.name_in(&turn, &mut outcome).await;
        Ok(Some(outcome))
    }

    /// Tells a notice once more, with the titles of the sessions that it speaks of. Where none is spoken of, as
    /// on an ordinary turn, nothing is read. What was decided is durable by now, so a title that cannot be read leaves the
    /// notice as it is and fails nothing.
    pub(crate) async fn name_in(&self, turn: &Turn, outcome: &mut Outcome) {
        if let Err(error) = self.try_name_in(turn, outcome).await {
            tracing::warn!(scope = %turn.scope, %error, "the titles for a notice cannot be read");
        }
    }

    async fn try_name_in(&self, turn: &Turn, outcome: &mut Outcome) -> Result<(), Error> {
        let notices = [outcome.announces.as_ref(), outcome.also.as_ref()];
        let sessions: Vec<Number> = notices.into_iter().flatten().flat_map(words::mentioned).collect();
        if sessions.is_empty() {
            return Ok(());
        }
        let Some(state) = self.find_state(&turn.scope).await? else { return Ok(()) };
        let mut titles = Titles::new();
        for session in sessions {
            titles.extend(self.title(&state, session).await?.map(|(title, _)| (session, title)));
        }
        let named = |notice: &Notice| words::notice_naming(turn.language, &turn.scope, &titles, notice);
        let lines: Vec<String> = notices.into_iter().flatten().map(named).collect();
        outcome.notice = Some(lines.join("\n"));
        Ok(())
    }
}

fn in_words(turn: &Turn, notices: [Option<&Notice>; 2]) -> Option<String> {
    let notices = notices.into_iter().flatten();
    let lines: Vec<String> =
        notices.map(|notice| words::notice(turn.language, &turn.scope, notice)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Makes the outcome of something that moved nothing.
pub(crate) fn unmoved(state: &State, language: Language, action: Action) -> Outcome {
    let session = state.latest().unwrap_or(Number::FIRST);
    let cause = match action {
        Action::Command | Action::Refused => Cause::Command,
        _ => Cause::None,
    };
    Outcome {
        scope: state.scope.clone(),
        session,
        session_id: state.sessions.get(&session).map(|session| session.id),
        segment: state.open.as_ref().map(|open| open.number),
        seq: None,
        state: state.extras.task_state(session),
        action,
        cause,
        confidence: Confidence::CERTAIN,
        because: Vec::new(),
        language,
        observed: None,
        announces: None,
        also: None,
        notice: None,
        reply: None,
        dropped: Vec::new(),
        delivery: Delivery::First,
        wants: Wants::Nothing,
    }
}
