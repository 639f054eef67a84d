//! A proxy in front of a server, which loses what it is told to lose.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
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
    is_partitioned: Mutex<bool>,
    healed: Condvar,
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

    /// Lets nothing through, as a network that is partitioned: nothing is refused, nothing is answered.
    pub fn partition(&self) {
        *self.shared.is_partitioned.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Lets everything through again.
    pub fn heal(&self) {
        *self.shared.is_partitioned.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.shared.healed.notify_all();
    }
}

fn connect(client: &TcpStream, server: SocketAddr, shared: &Arc<Shared>) {
    wait_until_open(shared);
    let Ok(server) = TcpStream::connect(server) else { return drop(client.shutdown(Shutdown::Both)) };
    // Without it every statement waits for the one before to be acknowledged.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let doomed = Arc::new(AtomicBool::new(false));
    let (Ok(client_in), Ok(server_in)) = (client.try_clone(), server.try_clone()) else { return };
    let (of_client, of_server) = (Arc::clone(&doomed), Arc::clone(&doomed));
    let (shared_in, shared_out) = (Arc::clone(shared), Arc::clone(shared));
    let requests = thread::spawn(move || {
        pass(client_in, &server_in, &shared_in, |bytes| {
            let mut wanted = shared_in.cut_after.lock().unwrap_or_else(PoisonError::into_inner);
            if wanted.as_ref().is_some_and(|marker| bytes.windows(marker.len()).any(|part| part == marker)) {
                *wanted = None;
                of_client.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    let client_out = client;
    pass(server, client_out, &shared_out, |_| {
        let is_doomed = of_server.load(Ordering::SeqCst);
        if is_doomed {
            shared_out.is_cut.store(true, Ordering::SeqCst);
        }
        !is_doomed
    });
    let _ = requests.join();
}

/// Passes bytes on until one side closes, or what is asked about them says no.
fn pass(mut from: TcpStream, mut to: &TcpStream, shared: &Shared, mut goes_on: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        wait_until_open(shared);
        let Some(bytes) = buffer.get(..count) else { break };
        if !goes_on(bytes) || to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

fn wait_until_open(shared: &Shared) {
    let closed = shared.is_partitioned.lock().unwrap_or_else(PoisonError::into_inner);
    // A lock that is poisoned lets everything through.
    drop(shared.healed.wait_while(closed, |is_partitioned| *is_partitioned));
}
