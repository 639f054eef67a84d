//! Contexts are counted as the model counts: what is dense in tokens fits, too.

use crate::table::{CALM, Table};
use segue_core::message::Role;
use segue_signals::context::{OpenAiTokens, TokenCounter};
use std::sync::Arc;

const WINDOW: u64 = 4_000;

/// JSON, code and Chinese have more tokens than four characters each.
const DENSE: [&str; 3] = [
    r#"{"id":17,"x":[0.12,-7.5e3,null],"ok":true,"k":{"a":"\u00e9","b":[[1,2],[3,4]]}}"#,
    "for(i=0;i<n;i++){a[i]^=b[(i*7)&0xff];}//#!~",
    "面团要在二十八度的环境里发酵多久才算合适？还要看湿度。",
];

#[tokio::test]
async fn r4_code_json_and_chinese_fit_into_the_window() {
    for text in DENSE {
        let mut table = Table::new(&format!("{CALM}\n[context]\nwindow = {WINDOW}\n"))
            .await
            .counting(Arc::new(OpenAiTokens));
        for n in 0..120 {
            let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
            table.say(role, format!("{n} {}", text.repeat(4))).await;
        }
        let context = table.engine.context(&table.scope).await.unwrap();
        let counted: u64 = context.said().iter().map(|(_, message)| OpenAiTokens.count(&message.text)).sum();
        assert!(context.older > 0 && counted <= context.tokens, "{counted} {}", context.tokens);
        assert!(context.tokens <= WINDOW * 7 / 8, "{text}: {}", context.tokens);
    }
}

/// One counter for both: a session is as full as its context would be.
#[tokio::test]
async fn r4_a_session_is_as_full_as_its_context() {
    let settings = format!("{CALM}\n[context]\nwindow = 100000\n");
    let mut table = Table::new(&settings).await.counting(Arc::new(OpenAiTokens));
    for n in 0..20 {
        let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
        table.say(role, DENSE[0].repeat(20)).await;
    }
    let last = table.say(Role::User, "and now?").await;
    let percent = last.observed.unwrap().window.percent;
    let context = table.engine.context(&table.scope).await.unwrap();
    assert_eq!(u64::from(percent), context.tokens * 100 / 100_000);
}
