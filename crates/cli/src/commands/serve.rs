//! `segue serve`: the daemon.

use crate::args::Common;
use crate::serve_args::{Log, Serve};
use crate::setup::{self, Absent};
use crate::{Exit, json, out};
use anyhow::Context as _;
use segue_server::{Options, Server};
use serde_json::json;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Logs as JSON on standard error: standard output is for the one line that says where the server listens.
pub fn log(serve: &Serve) {
    use tracing_subscriber::filter::LevelFilter;
    let level = match serve.log {
        Log::Error => LevelFilter::ERROR,
        Log::Warn => LevelFilter::WARN,
        Log::Info => LevelFilter::INFO,
        Log::Debug => LevelFilter::DEBUG,
    };
    tracing_subscriber::fmt().json().with_max_level(level).with_writer(std::io::stderr).init();
}

pub async fn run(common: &Common, serve: &Serve) -> anyhow::Result<Exit> {
    let engine = Arc::new(setup::engine(common, Absent::Make).await?);
    let addr = serve.addr.clone().unwrap_or_else(|| engine.config().serve.addr.clone());
    let listener = TcpListener::bind(&addr)
        .await
        .with_context(|| format!("cannot listen on {addr}: --addr HOST:PORT names another address"))?;
    let address = listener.local_addr()?;
    let server = Server::new(Options { engine, keys: Arc::new(setup::key) }, address).await?;
    // Registered before anybody is told that the server is there.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hang_up = signal(SignalKind::hangup())?;
    let handle = server.handle();
    let (common_again, reload) = (common.clone(), server.handle());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = hang_up.recv() => match setup::config(&common_again, &[]) {
                    Ok(config) => reload.reload(&config),
                    Err(error) => {
                        tracing::error!(error = crate::sentence(&error), "the configuration is wrong and was not taken");
                    }
                },
            }
        }
        handle.stop();
    });
    let url = format!("http://{address}");
    match common.json {
        true => json::print(&json!({ "listening": url }))?,
        false => out::line(format!("listening on {url}"))?,
    }
    server.run(listener).await?;
    Ok(Exit::Done)
}
