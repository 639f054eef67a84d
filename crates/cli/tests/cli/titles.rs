//! Titles by a model, through the real binary.

use crate::chat_endpoint::{Endpoint, Reply};
use crate::world::{ME, World};

fn settings(url: &str) -> String {
    format!(
        "store.url = \"sqlite:log.db\"\nlifecycle.auto_route = \"never\"\nagents.defaults.control_model = \"small\"\n\
         [models.small]\nbase_url = \"{url}\"\nmodel = \"m\"\napi_key_env = \"NAMES_KEY\"\n"
    )
}

/// X-11: a chat has a session named once it was left, and `sessions title` names what is missing.
#[test]
fn x11_titles_by_a_model_from_end_to_end() {
    let model = Endpoint::new(vec![
        Reply::Whole(r#"{"title":"A cake without nuts"}"#),
        Reply::Status(500),
        Reply::Status(500),
        Reply::Whole(r#"{"title":"White grout"}"#),
    ]);
    let world = World::new().variable("NAMES_KEY", "sk-1");
    world.file("segue.toml", settings(model.url()));
    let said =
        "Which cake can I take to a friend who eats no nuts?\n/new\nHow do I whiten grout?\n/new\nhello\n";
    let chat = world.run_with(&["chat", "--scope", ME], said.as_bytes()).expect_code(0);
    assert!(!chat.err.contains("error"), "a model that fails stops nobody: {}", chat.err);
    let titles = || {
        let list = world.run(&["sessions", "list", ME, "--json"]).expect_code(0).json();
        let title = |session: &serde_json::Value| format!("{} {}", session["titled_by"], session["title"]);
        list.as_array().unwrap().iter().rev().map(title).collect::<Vec<_>>()
    };
    let cake = r#""model" "A cake without nuts""#;
    assert_eq!(titles()[..2], [cake, r#""words" "How do I whiten grout?""#]);
    let named = world.run(&["sessions", "title", "--json"]).expect_code(0);
    assert_eq!(named.out, "{\"asked\":1,\"named\":1}\n");
    assert_eq!(titles()[..2], [cake, r#""model" "White grout""#]);
    let again = world.run(&["sessions", "title"]).expect_code(0);
    assert_eq!(again.out, "There is nothing to name, or no control model to ask.\n");
    let (head, _) = &model.requests()[0];
    assert!(head.to_lowercase().contains("authorization: bearer sk-1"), "{head}");
}
