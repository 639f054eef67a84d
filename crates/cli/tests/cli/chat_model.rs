//! `segue chat --model`: a scripted model answers.

use super::chat_endpoint::{Endpoint, Reply};
use super::world::{Ran, World};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

const SCOPE: &str = "agent:main:cli:direct:me";
const STORE: &str = "sqlite:chat.db";

/// Settings under which [`JUMP`] is asked about, and not simply followed.
pub const ASKS: &str = "lifecycle.shift.threshold = 0.999\nlifecycle.question = \"hold\"\n";

/// A conversation that jumps at its end.
pub const JUMP: &str = "\
My Python script reads a CSV of orders with pandas and takes four minutes.
It has 2 GB, and I need only the order id, the date and the amount.
What else can I do to make pandas read the CSV faster?
My grandmother turns ninety on Sunday, which flowers last longest in a vase?
";

fn chat(world: &World, url: &str, more: &[&str], said: &str) -> Ran {
    let quick = ["chat", "--scope", SCOPE, "--store", STORE, "--model-url", url, "--model-name", "tiny"];
    world.run_with(&[&quick, more].concat(), said.as_bytes())
}

/// What a session holds, each message as `role: text`.
fn kept(world: &World, session: &str) -> Vec<String> {
    let shown = world.run(&["sessions", "show", session, "--store", STORE, "--json"]).expect_code(0).json();
    let text =
        |said: &Value| format!("{}: {}", said["role"].as_str().unwrap(), said["content"].as_str().unwrap());
    shown["conversation_state"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_reply_is_streamed_and_kept() {
    let world = World::new();
    let model =
        Endpoint::new(vec![Reply::Says(&["Hel", "lo ", "there."]), Reply::Says(&["Fine.\n", "\nYou?"])]);
    let ran = chat(&world, model.url(), &[], "hello\nhow are you?\n/status\n").expect_code(0);
    assert!(
        ran.out.starts_with("  Hello there.\n  Fine.\n\n  You?\n  Session #1: (untitled)\n"),
        "{}",
        ran.seen()
    );
    assert_eq!(ran.err, "");
    let conversation =
        ["user: hello", "assistant: Hello there.", "user: how are you?", "assistant: Fine.\n\nYou?"];
    assert_eq!(kept(&world, SCOPE), conversation);
    assert_eq!(model.given(), [&conversation[..1], &conversation[..3]]);
    let (head, body) = &model.requests()[0];
    assert!(head.starts_with("POST /v1/chat/completions ") && !head.to_lowercase().contains("authorization"));
    assert_eq!((&body["model"], &body["stream"]), (&json!("tiny"), &json!(true)));
}

/// a model that fails ends neither the conversation nor the session.
#[test]
fn x5_a_failure_is_a_sentence_and_the_conversation_goes_on() {
    let world = World::new();
    let model = Endpoint::new(vec![
        Reply::Status(500),
        Reply::Says(&[]),
        Reply::BreaksOff(&["Half an ", "answer "]),
        Reply::Says(&["Here I am."]),
    ]);
    let ran = chat(&world, model.url(), &[], "one\ntwo\nthree\nfour\n").expect_code(0);
    assert_eq!(ran.out, "  Half an answer [interrupted]\n  Here I am.\n");
    let trouble: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        trouble,
        [
            "error: tiny did not answer: the endpoint answered with the HTTP status 500 (/retry asks again)",
            "error: tiny did not answer: the answer cannot be read: it has no text (/retry asks again)",
            "error: tiny did not answer: the connection broke off (/retry asks again)",
        ]
    );
    // That there was no answer is kept, too.
    let all = [
        "user: one",
        "assistant: ",
        "user: two",
        "assistant: ",
        "user: three",
        "assistant: Half an answer [interrupted]",
        "user: four",
        "assistant: Here I am.",
    ];
    assert_eq!(kept(&world, SCOPE), all);
}

/// First contact, row 20: the endpoint's own message is shown, the message can be tried again, and messages that got no
/// answer do not pile up in what the model is given.
#[test]
fn x5_a_failed_turn_can_be_tried_again() {
    let world = World::new();
    let full = "This model's maximum context length is 8192 tokens.";
    let model = Endpoint::new(vec![
        Reply::Refuses(400, full),
        Reply::Refuses(429, "slow down"),
        Reply::Says(&["Two."]),
        Reply::Whole("Not streamed."),
    ]);
    let ran = chat(&world, model.url(), &[], "one\ntwo\n/retry\n/retry\nthree\n").expect_code(0);
    assert_eq!(ran.out, "  Two.\n  Not streamed.\n");
    let expected = [
        format!("error: tiny did not answer: the endpoint answered with the HTTP status 400: {full} (/retry asks again)"),
        "error: tiny did not answer: the endpoint answered with the HTTP status 429: slow down; it has too much to do, \
         try again in a while (/retry asks again)"
            .to_owned(),
        "error: There is nothing to try again: the last answer is whole, or nothing was said yet.".to_owned(),
    ];
    assert_eq!(ran.err.lines().collect::<Vec<_>>(), expected);
    assert_eq!(
        model.given(),
        [
            vec!["user: one"],
            vec!["user: two"],
            vec!["user: two"],
            vec!["user: two", "assistant: Two.", "user: three"],
        ]
    );
    // The log keeps all of it.
    assert_eq!(kept(&world, SCOPE).len(), 7);
}

/// First contact, row 20: what failed is known after a restart, and what nobody tried to answer is no failure.
#[test]
fn fc20_failed_turns_do_not_pile_up_after_a_restart() {
    let world = World::new();
    let said = ["chat", "--scope", SCOPE, "--store", STORE];
    world.run_with(&said, b"here without a model\n").expect_code(0);
    let model = Endpoint::new(vec![
        Reply::Status(500),
        Reply::Status(503),
        Reply::Says(&["Two."]),
        Reply::Says(&["Three."]),
    ]);
    for line in ["one\n", "two\n", "/retry\n", "three\n"] {
        chat(&world, model.url(), &[], line).expect_code(0);
    }
    let begun = "user: here without a model";
    assert_eq!(
        model.given(),
        [
            vec![begun, "user: one"],
            vec![begun, "user: two"],
            vec![begun, "user: two"],
            vec![begun, "user: two", "assistant: Two.", "user: three"],
        ]
    );
    let shown = world.run(&["sessions", "show", SCOPE, "--store", STORE]).expect_code(0).out;
    assert_eq!(shown.matches("(the model gave no answer)").count(), 2, "{shown}");
    // It goes elsewhere and comes back.
    let own = world.run(&["export", SCOPE, "--store", STORE]).expect_code(0).out;
    assert!(own.contains("\"end\":\"failed\""), "{own}");
    world.file("own.segue", own);
    let back =
        world.run(&["import", "own.segue", "--store", "sqlite:other.db", "--json"]).expect_code(0).json();
    assert_eq!((&back["taken"], &back["bad"]), (&json!(8), &json!([])), "{back}");
    let chat = world.run(&["export", SCOPE, "--store", STORE, "--format", "markdown"]).expect_code(0).out;
    assert_eq!(chat.matches("**assistant**").count(), 2, "{chat}");
}

/// Half an answer can be asked for again, and gives way to the whole one.
#[test]
fn fc20_half_an_answer_can_be_tried_again() {
    let world = World::new();
    let model = Endpoint::new(vec![
        Reply::BreaksOff(&["Half an ", "answer "]),
        Reply::Says(&["A whole answer."]),
        Reply::Says(&["More."]),
    ]);
    let ran = chat(&world, model.url(), &[], "tell me\n/retry\nand?\n").expect_code(0);
    assert_eq!(ran.out, "  Half an answer [interrupted]\n  A whole answer.\n  More.\n");
    assert_eq!(
        model.given(),
        [
            vec!["user: tell me"],
            vec!["user: tell me"],
            vec!["user: tell me", "assistant: A whole answer.", "user: and?"],
        ]
    );
    assert_eq!(kept(&world, SCOPE)[1], "assistant: Half an answer [interrupted]");
}

/// A chat that is held in Chinese fails in Chinese.
#[test]
fn fc19_what_a_chat_says_itself_is_in_the_users_language() {
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Status(429), Reply::Says(&["好的。"])]);
    let ran = chat(&world, model.url(), &[], "帮我规划一次去日本的旅行\n/retry\n/retry\n").expect_code(0);
    assert_eq!(
        ran.err,
        "error: tiny 没有回答：模型返回了 HTTP 状态 429；它太忙了，请稍后再试（/retry 重新提问）\n\
         error: 没有可以重试的内容：上一个回答是完整的，或者还没有说过话。\n"
    );
}

#[test]
fn x5_nobody_listens() {
    let world = World::new();
    let ran = chat(&world, &Endpoint::nobody(), &[], "one\n/session list\n").expect_code(0);
    assert_eq!(
        ran.err,
        "error: tiny did not answer: the endpoint cannot be reached; is it running, and is its address right? \
         (/retry asks again)\n"
    );
    assert_eq!(ran.out, "  * #1  (untitled) (2 messages, just now)\n");
}

/// nothing is answered until the question is; then the held message is, where the answer put it.
#[test]
fn r14_the_model_waits_for_the_answer() {
    for answer in ["/fresh", "2", "start fresh"] {
        let world = World::new();
        world.file("segue.toml", ASKS);
        let replies = [&["Tell me more."], &["Use usecols."], &["Use Parquet."], &["Carnations."]];
        let model = Endpoint::new(replies.map(|text| Reply::Says(text)).into());
        let ran = chat(&world, model.url(), &[], &format!("{JUMP}{answer}\n")).expect_code(0);
        let asked = ran.out.find("  1 /continue   2 /fresh").unwrap_or_else(|| panic!("{}", ran.seen()));
        assert!(!ran.out[..asked].contains("Carnations.") && ran.out[asked..].contains("  Carnations.\n"));
        let held = format!("user: {}", JUMP.lines().last().unwrap());
        assert_eq!(model.given()[3..], [[held.clone()]], "{answer}");
        assert_eq!(kept(&world, &format!("{SCOPE}#2")), [held, "assistant: Carnations.".to_owned()]);
        assert_eq!(kept(&world, SCOPE).len(), 6);
    }
}

/// another message instead of an answer settles the question too, and both are answered together.
#[test]
fn r14_a_question_that_is_ignored() {
    let world = World::new();
    world.file("segue.toml", ASKS);
    let model = Endpoint::new([&["A"], &["B"], &["C"], &["D"]].map(|text| Reply::Says(text)).into());
    let said = format!("{JUMP}She likes red carnations best, do they last in a vase?\n");
    chat(&world, model.url(), &[], &said).expect_code(0);
    assert_eq!(model.given().last().unwrap().len(), 8);
    assert_eq!(kept(&world, SCOPE).last().unwrap(), "assistant: D");
}

/// Commands are ours; only those with a message in them are answered.
#[test]
fn a_model_never_sees_a_command() {
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Says(&["one"]), Reply::Says(&["two"])]);
    let said =
        "hello\n/why\n/status\n/nwe\n/session rename x\n/continue\n/new\n/new what is a monad?\n/undo\n";
    chat(&world, model.url(), &[], said).expect_code(0);
    assert_eq!(model.given(), [["user: hello"], ["user: what is a monad?"]]);
}

/// Programs get an object for each decision, and one for each reply.
#[test]
fn json_has_the_reply() {
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Says(&["Hello ", "there."]), Reply::Status(404)]);
    let ran = chat(&world, model.url(), &["--json"], "hello\nand you?\n").expect_code(0);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 4, "{}", ran.seen());
    assert_eq!(lines[0]["action"], "continue");
    let said = json!({
        "line": 1, "scope": SCOPE, "session": SCOPE, "seq": lines[1]["seq"], "role": "assistant",
        "model": "tiny", "text": "Hello there.", "interrupted": false, "error": null,
    });
    assert_eq!(lines[1], said);
    assert!(lines[1]["seq"].as_u64() > lines[0]["seq"].as_u64());
    let error = "the endpoint answered with the HTTP status 404";
    let failed = json!({
        "line": 2, "scope": SCOPE, "session": SCOPE, "seq": null, "role": "assistant",
        "model": "tiny", "text": "", "interrupted": true, "error": error,
    });
    assert_eq!(lines[3], failed);
}

/// A model of the configuration gets the key that is named there, an unnamed one that of SEGUE_API_KEY.
#[test]
fn keys_go_where_they_belong() {
    let model = Endpoint::new(vec![Reply::Says(&["one"]), Reply::Says(&["two"])]);
    let world = World::new().variable("MAIN_KEY", "sk-main").variable("SEGUE_API_KEY", "sk-quick");
    let url = model.url();
    world.file("segue.toml", format!("[models.main]\nbase_url='{url}'\nmodel='m'\napi_key_env='MAIN_KEY'\n"));
    let ran = world.run_with(&["chat", "--store", "memory:", "--model", "main"], b"hello\n").expect_code(0);
    assert_eq!(ran.err, "");
    assert_eq!(chat(&world, url, &[], "hello\n").expect_code(0).err, "");
    let keys: Vec<bool> = ["sk-main", "sk-quick"]
        .iter()
        .zip(model.requests())
        .map(|(key, (head, _))| head.contains(&format!("Bearer {key}\r\n")))
        .collect();
    assert_eq!(keys, [true, true]);
}

#[test]
fn a_model_that_cannot_be_used_is_said_at_once() {
    let world = World::new();
    let refused = |args: &[&str]| {
        let ran =
            world.run_with(&[&["chat", "--store", "memory:"], args].concat(), b"hello\n").expect_code(2);
        assert_eq!(ran.out, "");
        ran.err
    };
    assert_eq!(
        refused(&["--model", "main"]),
        "error: there is no model main: add [models.main] to the configuration, or use --model-url and \
         --model-name\n"
    );
    let error = refused(&["--model-url", "localhost:11434", "--model-name", "x"]);
    assert!(error.contains("such as http://localhost:11434/v1, not 'localhost:11434'"), "{error}");
    world.file(
        "segue.toml",
        "[models.big]\nbase_url='http://localhost/v1'\nmodel='m'\napi_key_env='BIG_KEY'\n",
    );
    assert_eq!(refused(&["--model", "main"]), "error: there is no model main: the configuration has big\n");
    let error = refused(&["--model", "big"]);
    assert!(error.contains("BIG_KEY") && error.contains("is not set"), "{error}");
    assert!(refused(&["--model-url", "http://localhost/v1"]).contains("--model-name"));
}

/// Ctrl-C ends a reply, keeps what was said of it, and ends nothing else.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_reply_only() {
    let world = World::new();
    let model =
        Endpoint::new(vec![Reply::Hangs(&["Once upon a time ", "there was "]), Reply::Says(&["The end."])]);
    let mut command = world.command();
    command.args([
        "chat",
        "--scope",
        SCOPE,
        "--store",
        STORE,
        "--model-url",
        model.url(),
        "--model-name",
        "m",
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut out) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    writeln!(stdin, "tell me a story").unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"there was") {
        let read = out.fill_buf().unwrap();
        assert!(!read.is_empty(), "{}", String::from_utf8_lossy(&said));
        said.extend_from_slice(read);
        let taken = read.len();
        out.consume(taken);
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, " [interrupted]\n");
    writeln!(stdin, "shorter please").unwrap();
    drop(stdin);
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "  The end.\n");
    assert!(child.wait().unwrap().success());
    let story = "assistant: Once upon a time there was [interrupted]";
    assert_eq!(
        kept(&world, SCOPE),
        ["user: tell me a story", story, "user: shorter please", "assistant: The end."]
    );
}

/// L-9: the model that a session is pinned to answers in it, in the manner that is pinned, and in no other session.
#[test]
fn l9_the_model_of_the_session_answers() {
    let world = World::new();
    let model = Endpoint::new(vec![Reply::Says(&["One."]), Reply::Says(&["Two."]), Reply::Says(&["Three."])]);
    let settings = |temperature: &str| {
        let url = model.url();
        format!(
            "[models.main]\nbase_url = '{url}'\nmodel = 'qwen3'\ntemperature = {temperature}\n\
             [models.fast]\nbase_url = '{url}'\nmodel = 'tiny'\nthinking = 'low'\nverbosity = 'high'\n"
        )
    };
    world.file("segue.toml", settings("0.7"));
    let args = ["chat", "--scope", SCOPE, "--store", STORE, "--model", "main"];
    let said = "hello\n/model fast\nand now?\n/new\n";
    let ran = world.run_with(&args, said.as_bytes()).expect_code(0);
    assert!(
        ran.out.contains("  fast (tiny, thinking low, verbosity high) now answers in #1.\n"),
        "{}",
        ran.seen()
    );
    // What the configuration says later is for later sessions.
    world.file("segue.toml", settings("0.1"));
    world.run_with(&args, b"hello again\n").expect_code(0);
    let asked: Vec<Value> = model.requests().into_iter().map(|(_, body)| body).collect();
    let manner =
        |body: &Value| ["model", "temperature", "reasoning_effort", "verbosity"].map(|key| body[key].clone());
    assert_eq!(manner(&asked[0]), [json!("qwen3"), json!(0.7), Value::Null, Value::Null]);
    assert_eq!(manner(&asked[1]), [json!("tiny"), Value::Null, json!("low"), json!("high")]);
    assert_eq!(manner(&asked[2]), [json!("qwen3"), json!(0.7), Value::Null, Value::Null]);
    // L-11: one that vanished is not replaced by another one.
    world.file("segue.toml", settings("0.1").replace("models.fast", "models.slow"));
    let ran = world.run_with(&args, b"/session resume 1\nhello\n").expect_code(0);
    assert!(
        ran.err.contains("fast answers in this session and is gone from the configuration"),
        "{}",
        ran.seen()
    );
}
