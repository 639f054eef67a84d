//! A second opinion: a model is asked where the built-in judgement is not sure and the policy lets meaning decide
//! (M-C1 to M-C5). Nobody waits for it but the message's own sender, and whatever goes wrong with it, the message goes
//! on with what that said.

use crate::control::{Case, Chain, Consulted, NamedBy, RecentMessage};
use crate::engine::{Engine, Turn};
use crate::scope::session_profile::SessionProfile;
use crate::turn::observe::meaning;
use segue_core::entry::Seq;
use segue_core::evidence::Semantic;
use segue_core::message::{Message, Role};
use segue_core::observed::{Helped, Observed};
use segue_core::policy::{AutoRoute, Mode, Rule};
use segue_core::state::State;
use segue_signals::Probability;
use segue_signals::semantic::Relevance;
use segue_signals::summary::SummaryLanguage;

/// Whether a model may still be asked about a message.
#[derive(Debug)]
pub(crate) enum ModelConsult {
    /// It may.
    Open,
    /// It was. If the log has grown since, the answer is about something else.
    Given(Box<Opinion>),
}

/// What came of asking a model.
#[derive(Debug)]
pub(crate) struct Opinion {
    /// Where the log ended then.
    head: Seq,
    /// What was observed then, which still holds there.
    observed: Observed,
    consulted: Consulted,
}

impl ModelConsult {
    /// Returns what was observed before a model was asked, if the log still ends where it did.
    pub(crate) fn observed(&self, state: &State) -> Option<Observed> {
        match self {
            Self::Given(opinion) if opinion.head == state.head => Some(opinion.observed.clone()),
            Self::Given(_) | Self::Open => None,
        }
    }
}

/// What a model is to be asked.
#[derive(Debug)]
pub(crate) struct ModelQuestion {
    head: Seq,
    observed: Observed,
    chain: Chain,
    summary: String,
    recent: Vec<(Role, String)>,
    message: String,
}

impl Engine {
    /// Tells whether a model should be asked about a message.
    pub(crate) async fn doubt(
        &self,
        turn: &Turn,
        state: &State,
        profile: Option<&SessionProfile>,
        message: &Message,
        observed: &Observed,
    ) -> Option<Box<ModelQuestion>> {
        let policy = &turn.policy;
        let allowed = policy.mode == Mode::Segmented
            && policy.auto_route == AutoRoute::Auto
            && policy.rule != Rule::Task
            && observed.start_over.is_none()
            && observed.answer.is_none()
            && observed.task.is_none();
        let profile = profile.filter(|_| allowed && observed.meaning.band == Semantic::Medium)?;
        let chain = self.chain(state);
        if chain.named().is_empty() && chain.warnings.is_empty() {
            return None;
        }
        Some(Box::new(ModelQuestion {
            head: state.head,
            observed: observed.clone(),
            chain,
            summary: match self.summarised(state).await {
                Some(summary) => summary.render(SummaryLanguage::English),
                None => String::new(),
            },
            recent: profile.said().to_vec(),
            message: message.text.clone(),
        }))
    }

    /// Returns the chain of models that help to decide in the latest session.
    pub(crate) fn chain(&self, state: &State) -> Chain {
        let own = state.latest().and_then(|latest| state.extras.control_models.get(&latest));
        Chain::for_scope(own.map(String::as_str), &state.scope, &self.config)
    }

    /// Asks.
    pub(crate) async fn consult(&self, doubt: ModelQuestion) -> ModelConsult {
        let recent: Vec<RecentMessage<'_>> =
            doubt.recent.iter().map(|(role, text)| RecentMessage { role: *role, text }).collect();
        let case = Case { summary: &doubt.summary, recent: &recent, message: &doubt.message };
        let consulted = self.control.consult(&doubt.chain, &case, self.clock.now()).await;
        let ModelQuestion { head, observed, .. } = doubt;
        ModelConsult::Given(Box::new(Opinion { head, observed, consulted }))
    }

    /// Records who helped, and takes the opinion in. An opinion about an earlier state of the conversation does not
    /// count, and is not recorded as help.
    pub(crate) fn take_in(&self, state: &State, opinion: &ModelConsult, observed: &mut Observed) {
        let consulted = match opinion {
            ModelConsult::Given(opinion) if opinion.head == state.head => &opinion.consulted,
            ModelConsult::Given(_) | ModelConsult::Open => {
                let end = self.chain(state).end().clone();
                let (name, source) = (end.model.name().to_owned(), word(end.source).to_owned());
                observed.model = Some(Helped { name, source, prompt_hash: None, troubles: Vec::new() });
                return;
            }
        };
        let troubles = consulted.attempts.iter();
        let troubles = troubles.map(|attempt| format!("{}: {}", attempt.model, attempt.failure));
        observed.model = Some(Helped {
            name: consulted.answered_by.model.name().to_owned(),
            source: word(consulted.source()).to_owned(),
            prompt_hash: consulted.prompt_hash.clone(),
            troubles: troubles.collect(),
        });
        if let Some(belongs) = consulted.belongs {
            let belongs = Probability::new(belongs as f32);
            observed.meaning = meaning(Relevance::scored(belongs, "a model was asked".to_owned()));
        }
    }
}

/// The word for who named a model, as records carry it.
fn word(source: NamedBy) -> &'static str {
    match source {
        NamedBy::Session => "session",
        NamedBy::Agent => "agent",
        NamedBy::Defaults => "defaults",
        NamedBy::Fallback => "fallback",
        NamedBy::Builtin => "builtin",
    }
}
