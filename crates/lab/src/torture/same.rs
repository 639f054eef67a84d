//! Whether all nodes tell the same.

use serde_json::Value;

/// What every node is asked about a scope, besides the messages of each session.
const PATHS: [&str; 5] = ["head", "verify", SESSIONS, "decisions?limit=100", "context"];

/// What lists the sessions.
const SESSIONS: &str = "sessions?archived=true&limit=500";

/// Asks all nodes for the same, and says where they differ: heads, proofs, every session with its messages, decisions, contexts.
pub async fn differences(
    nodes: usize,
    scopes: &[String],
    ask: impl AsyncFn(usize, &str, &str) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for scope in scopes {
        let listed: Value = serde_json::from_str(&ask(0, scope, SESSIONS).await?).unwrap_or_default();
        let numbers =
            listed["items"].as_array().into_iter().flatten().filter_map(|one| one["index"].as_u64());
        let messages = numbers.map(|number| format!("sessions/{number}/messages?limit=200&order=desc"));
        for path in PATHS.map(str::to_owned).into_iter().chain(messages) {
            let mut answers = Vec::new();
            for node in 0..nodes {
                answers.push(ask(node, scope, &path).await?);
            }
            if answers.windows(2).any(|pair| pair[0] != pair[1]) {
                wrong.push(format!("{scope}: the nodes do not tell the same about its {path}"));
            }
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// One node tells something else, about one thing at a time: each is found, and nothing else is.
    #[tokio::test]
    async fn n1_a_node_that_tells_something_else_is_found() {
        let scopes = ["agent:main:cli:direct:me".to_owned(), "agent:main:cli:direct:you".to_owned()];
        let told = async |lies_about: Option<(&str, &str)>| {
            let ask = async |node: usize, scope: &str, path: &str| {
                let sessions = json!({ "items": [{ "index": 1 }, { "index": 2 }] }).to_string();
                let truth = if path == SESSIONS { sessions } else { format!("{scope} {path}") };
                let lies = node == 2 && lies_about == Some((scope, path));
                Ok(if lies { "something else".to_owned() } else { truth })
            };
            differences(3, &scopes, ask).await.unwrap()
        };
        assert_eq!(told(None).await, Vec::<String>::new());
        let messages = [1, 2].map(|n| format!("sessions/{n}/messages?limit=200&order=desc"));
        let paths = ["head", "verify", "sessions?archived=true&limit=500", "decisions?limit=100", "context"];
        for path in paths.into_iter().chain(messages.iter().map(String::as_str)) {
            for scope in &scopes {
                let expected = format!("{scope}: the nodes do not tell the same about its {path}");
                assert_eq!(told(Some((scope, path))).await, [expected]);
            }
        }
    }
}
