//! Eligibility: whether what a skill needs is there.

use super::Problem;
use super::front::Requires;
use std::collections::BTreeSet;

/// What is there: the host says it, since this library looks at no environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The tools that the agent can call.
    pub tools: BTreeSet<String>,
    /// The platform, as `std::env::consts::OS` names it.
    pub platform: String,
    /// The names of the variables that are set.
    pub env: BTreeSet<String>,
}

/// Lists what keeps a skill out; nothing, if it can be used.
pub(super) fn problems(requires: &Requires, here: &Surroundings) -> Vec<Problem> {
    let missing = |wanted: &[String], there: &BTreeSet<String>| -> Vec<String> {
        wanted.iter().filter(|word| !there.contains(*word)).cloned().collect()
    };
    let mut problems = Vec::new();
    let needs = &requires.platform.0;
    if !needs.is_empty() && !needs.iter().any(|platform| common(platform) == common(&here.platform)) {
        problems.push(Problem::WrongPlatform { needs: needs.clone(), here: here.platform.clone() });
    }
    let variables = missing(&requires.env.0, &here.env);
    if !variables.is_empty() {
        problems.push(Problem::MissingEnv { variables });
    }
    let tools = missing(&requires.tools.0, &here.tools);
    if !tools.is_empty() {
        problems.push(Problem::MissingTools { tools });
    }
    problems
}

/// Skills for other agents name platforms as Node and Python do.
fn common(platform: &str) -> String {
    match platform.to_lowercase().as_str() {
        "darwin" | "osx" | "mac" => "macos".to_owned(),
        "win32" | "win" => "windows".to_owned(),
        other => other.to_owned(),
    }
}
