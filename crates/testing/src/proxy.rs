//! A proxy in front of a server, which loses what it is told to lose.

use crate::frames::Frames;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A proxy on a port of its own.
#[derive(Debug, Clone)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Once a client sends this, the next answer is dropped and the connection cut.
    cut_after: Mutex<Option<Vec<u8>>>,
    is_cut: AtomicBool,
    /// The round trips since somebody began to count them.
    round_trips: Mutex<Option<Vec<String>>>,
    /// What of the server's answers is replaced, and by what.
    replaced: Mutex<Option<(Vec<u8>, Vec<u8>)>>,
    gate: Mutex<Gate>,
    opened: Condvar,
    connections: AtomicU64,
}

/// Who may pass.
#[derive(Debug, Default)]
struct Gate {
    is_partitioned: bool,
    /// Connections with a smaller number pass nothing on, ever.
    abandoned_below: u64,
}

impl Proxy {
    /// Starts a proxy in front of an address. It runs as long as the process.
    pub fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                thread::spawn(move || connect(&client, server, &shared));
            }
        });
        Ok(Self { port, shared })
    }

    /// Returns the port on the loopback address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts a connection once: after the server has answered the request that holds these bytes, and before the client has
    /// the answer.
    pub fn cut_after(&self, bytes: &[u8]) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
        *self.shared.cut_after.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes.to_vec());
    }

    /// Tells whether a connection was cut since [`cut_after`](Proxy::cut_after).
    pub fn is_cut(&self) -> bool {
        self.shared.is_cut.load(Ordering::SeqCst)
    }

    /// Notes the round trips of all connections from now on, and returns those since this was called before: the texts of the
    /// statements that each is for.
    pub fn round_trips(&self) -> Vec<String> {
        let mut noted = self.shared.round_trips.lock().unwrap_or_else(PoisonError::into_inner);
        noted.replace(Vec::new()).unwrap_or_default()
    }

    /// Replaces bytes in the server's answers from now on, by as many others.
    pub fn replace(&self, bytes: &[u8], by: &[u8]) {
        let mut replaced = self.shared.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        *replaced = (bytes.len() == by.len()).then(|| (bytes.to_vec(), by.to_vec()));
    }

    /// Lets nothing through, as a network that is partitioned: nothing is refused, nothing is answered.
    pub fn partition(&self) {
        self.shared.gate().is_partitioned = true;
    }

    /// Lets everything through again.
    pub fn heal(&self) {
        self.shared.gate().is_partitioned = false;
        self.shared.opened.notify_all();
    }

    /// Lets the connections that there are pass nothing on any more, without closing them, as a server does that has vanished.
    /// New ones are fine.
    pub fn abandon(&self) {
        self.shared.gate().abandoned_below = self.shared.connections.load(Ordering::SeqCst);
    }
}

impl Shared {
    fn note(&self, round_trips: Vec<String>) {
        let mut noted = self.round_trips.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(noted) = noted.as_mut() {
            noted.extend(round_trips);
        }
    }

    fn rewrite(&self, bytes: &mut [u8]) {
        let replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((old, new)) = replaced.as_ref() else { return };
        let found = bytes.windows(old.len()).position(|part| part == old.as_slice());
        if let Some(place) = found.and_then(|at| bytes.get_mut(at..at + old.len())) {
            place.copy_from_slice(new);
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the connection of this number may pass something on.
    fn wait_until_open(&self, connection: u64) {
        let is_closed = |gate: &mut Gate| gate.is_partitioned || connection < gate.abandoned_below;
        // A lock that is poisoned lets everything through.
        drop(self.opened.wait_while(self.gate(), is_closed));
    }
}

fn connect(client: &TcpStream, server: SocketAddr, shared: &Arc<Shared>) {
    let number = shared.connections.fetch_add(1, Ordering::SeqCst);
    shared.wait_until_open(number);
    let Ok(server) = TcpStream::connect(server) else { return drop(client.shutdown(Shutdown::Both)) };
    // Without it every statement waits for the one before to be acknowledged.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let doomed = Arc::new(AtomicBool::new(false));
    let (Ok(client_in), Ok(server_in)) = (client.try_clone(), server.try_clone()) else { return };
    let (of_client, of_server) = (Arc::clone(&doomed), Arc::clone(&doomed));
    let (shared_in, shared_out) = (Arc::clone(shared), Arc::clone(shared));
    let requests = thread::spawn(move || {
        let mut frames = Frames::default();
        pass(client_in, &server_in, &shared_in, number, |bytes| {
            shared_in.note(frames.take(bytes));
            let mut wanted = shared_in.cut_after.lock().unwrap_or_else(PoisonError::into_inner);
            if wanted.as_ref().is_some_and(|marker| bytes.windows(marker.len()).any(|part| part == marker)) {
                *wanted = None;
                of_client.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    let client_out = client;
    pass(server, client_out, &shared_out, number, |bytes| {
        shared_out.rewrite(bytes);
        let is_doomed = of_server.load(Ordering::SeqCst);
        if is_doomed {
            shared_out.is_cut.store(true, Ordering::SeqCst);
        }
        !is_doomed
    });
    let _ = requests.join();
}

/// Passes bytes on until one side closes, or what is asked about them says no.
fn pass(
    mut from: TcpStream,
    mut to: &TcpStream,
    shared: &Shared,
    number: u64,
    mut goes_on: impl FnMut(&mut [u8]) -> bool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        shared.wait_until_open(number);
        let Some(bytes) = buffer.get_mut(..count) else { break };
        if !goes_on(bytes) || to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
