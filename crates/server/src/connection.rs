//! Connections: taken one by one, with a bound on their number and on how long a client may dawdle.

use crate::app::App;
use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How long to wait after the system refused a connection: usually too many files are open.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// Takes connections until the server is to stop, then waits for those that are at work.
pub(crate) async fn serve(app: Arc<App>, listener: TcpListener, router: Router) -> io::Result<()> {
    let settings = app.serve();
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(settings.connections_max));
    let mut stopping = app.stopping.clone();
    let builder = builder(settings.header_timeout.unsigned_abs(), settings.header_bytes_max);
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            _ = stopping.wait_for(|stop| *stop) => break,
        };
        let Ok(slot) = slot else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stop| *stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was not taken");
                sleep(REFUSED_PAUSE).await;
                continue;
            }
        };
        // Small events are sent at once.
        let _ = stream.set_nodelay(true);
        let io = TokioIo::new(Patient::new(stream, settings.write_timeout.unsigned_abs()));
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(builder.serve_connection_with_upgrades(io, service).into_owned());
        let metrics = Arc::clone(&app.metrics);
        tokio::spawn(async move {
            metrics.connections.add(1);
            if let Err(error) = connection.await {
                tracing::debug!(error, "a connection ended early");
            }
            metrics.connections.add(-1);
            drop(slot);
        });
    }
    drop(listener);
    let grace = settings.shutdown_grace.unsigned_abs();
    if timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time; what they said is kept, their answers are not");
    }
    Ok(())
}

fn builder(header_timeout: Duration, header_bytes_max: usize) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // A client that sends its head byte by byte holds a connection no longer than this.
        .header_read_timeout(header_timeout)
        .max_buf_size(header_bytes_max.max(8192));
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_header_list_size(u32::try_from(header_bytes_max).unwrap_or(u32::MAX));
    builder
}

/// A connection whose other side has to take what is written to it: who does not read is cut off.
struct Patient {
    stream: TcpStream,
    patience: Duration,
    stuck: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, stuck: None }
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stuck = None;
            return polled;
        }
        let patience = self.patience;
        let stuck =
            self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        ready!(stuck.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
