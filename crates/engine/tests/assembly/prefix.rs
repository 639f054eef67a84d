//! A provider's prompt cache keeps working: from turn to turn a context begins as it did.

use crate::table::{CALM, Table};
use segue_core::message::{Message, Role, ToolCall};
use segue_engine::context::Context;
use segue_engine::shapes::Shape;

const TURNS: usize = 220;

/// The bytes as a provider reads them: what the host says first, then the messages.
fn bytes(context: &Context, shape: Shape) -> Vec<u8> {
    let value = context.project(shape);
    let fields = ["system", "messages", "input"];
    fields
        .iter()
        .filter_map(|field| value.get(field))
        .flat_map(|part| part.to_string().into_bytes())
        .collect()
}

fn share(before: &[u8], after: &[u8]) -> f64 {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    same as f64 / before.len() as f64
}

async fn turn(table: &mut Table, n: usize) {
    let words = "the harbour, the ferry and the long way home ".repeat(1 + n * 7 % 5);
    table.say(Role::User, format!("Question {n}: what about {words}?")).await;
    if n.is_multiple_of(3) {
        let call = ToolCall { id: format!("call_{n}"), name: "search".into(), arguments: "{\"q\":1}".into() };
        table.take(Role::Assistant, Message { tool_calls: vec![call], ..Message::default() }).await.unwrap();
        let result = Message { tool_call_id: Some(format!("call_{n}")), ..Message::text("found it") };
        table.take(Role::Tool, result).await.unwrap();
    }
}

/// Where no message had to go, at least 95 % of the context before is there again, byte by byte; and that is nearly
/// every turn, in a session that is many times as long as the window.
#[tokio::test]
async fn m_d1_a_context_begins_as_it_did_the_turn_before() {
    let mut table = Table::new(CALM).await;
    for shape in Shape::ALL {
        table.scope = format!("agent:main:cli:direct:{shape}").parse().unwrap();
        let (mut shares, mut moved) = (Vec::new(), 0);
        let mut before: Option<(usize, Vec<u8>)> = None;
        for n in 0..TURNS {
            turn(&mut table, n).await;
            let context = table.context(6_000).await.unwrap();
            let after = bytes(&context, shape);
            if let Some((older, before)) = before.filter(|(_, bytes)| bytes.len() > 500) {
                let share = share(&before, &after);
                shares.push(share);
                if older == context.older {
                    assert!(share >= 0.95, "{shape}, turn {n}: {share:.3}");
                } else {
                    assert!(context.older > older, "the cut never goes back");
                    moved += 1;
                }
            }
            before = Some((context.older, after));
            table.say(Role::Assistant, format!("Answer {n}: {}", "by the sea ".repeat(3 + n % 4))).await;
        }
        let all = table.engine.state(&table.scope).await.unwrap().messages as usize;
        let (older, _) = before.unwrap();
        assert!(older * 10 > all * 7, "{shape}: {older} of {all} messages are not shown: the test is one");
        let ordinary = shares.iter().filter(|share| **share >= 0.95).count();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        println!("{shape}: {ordinary} of {} turns, cut moved {moved} times, mean {mean:.3}", shares.len());
        assert!(ordinary * 100 >= shares.len() * 93, "{shape}: {ordinary} of {}", shares.len());
        assert!(mean >= 0.93, "{shape}: {mean}");
    }
}

#[tokio::test]
async fn l7_same_state_same_bytes_and_the_log_is_not_touched() {
    let store = std::sync::Arc::new(segue_store::memory::Memory::default());
    let mut table = Table::on(store.clone(), CALM).await;
    for n in 0..60 {
        turn(&mut table, n).await;
    }
    let head = table.engine.state(&table.scope).await.unwrap();
    let first = table.context(2_000).await.unwrap();
    // Other budgets between, and another engine on the same store, which has read nothing yet.
    table.context(1_000).await.unwrap();
    let other = Table::on(store, CALM).await;
    for table in [&table, &other] {
        let again = table.context(2_000).await.unwrap();
        assert_eq!(again, first);
        for shape in Shape::ALL {
            assert_eq!(again.project(shape).to_string(), first.project(shape).to_string());
        }
    }
    assert_eq!(table.engine.state(&table.scope).await.unwrap(), head);
}
