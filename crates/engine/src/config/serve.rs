//! The settings of `segue serve`.

use super::read::Reader;
use super::schema::Path;
use jiff::SignedDuration;
use toml::Value;

/// What a model is given for clients that send their whole history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum History {
    /// What the client sent.
    #[default]
    AsSent,
    /// What Segue assembles.
    Managed,
}

impl History {
    const ALL: &[(&str, Self)] = &[("as_sent", Self::AsSent), ("managed", Self::Managed)];
}

/// Where the people behind an OpenAI-compatible client see notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notices {
    /// Before the reply.
    #[default]
    Prefix,
    /// In the header `X-Segue-Notice` only.
    Header,
    /// Nowhere.
    None,
}

impl Notices {
    const ALL: &[(&str, Self)] = &[("prefix", Self::Prefix), ("header", Self::Header), ("none", Self::None)];
}

/// Which of OpenAI's interfaces an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wire {
    /// It is found out.
    #[default]
    Auto,
    /// Chat completions only.
    Chat,
    /// Responses too.
    Responses,
}

impl Wire {
    pub(super) const ALL: &[(&str, Self)] =
        &[("auto", Self::Auto), ("chat", Self::Chat), ("responses", Self::Responses)];
}

/// The settings of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serve {
    /// Where it listens.
    pub addr: String,
    /// What a model is given for clients that send their whole history.
    pub context: History,
    /// Where people see notices.
    pub notices: Notices,
    /// The environment variable that holds the key which heads are signed with.
    pub signing_key_env: Option<String>,
    /// How many requests a minute are taken from one token; 0 is no bound.
    pub requests_per_minute: u64,
    /// How many scopes one token may begin; 0 is no bound.
    pub scopes_per_token_max: usize,
    /// How many connections are open at once.
    pub connections_max: usize,
    /// The largest body of a request.
    pub body_bytes_max: usize,
    /// The largest head of a request.
    pub header_bytes_max: usize,
    /// How long a request's head may take to arrive.
    pub header_timeout: SignedDuration,
    /// How long a request's body may take to arrive.
    pub body_timeout: SignedDuration,
    /// How long a client may leave unread what it is sent.
    pub write_timeout: SignedDuration,
    /// How long it may take to reach a model's endpoint.
    pub upstream_connect_timeout: SignedDuration,
    /// How long a model's endpoint may be silent.
    pub upstream_idle_timeout: SignedDuration,
    /// How long a model's endpoint may take for a whole answer.
    pub upstream_timeout: SignedDuration,
    /// How often a request to a model is tried again.
    pub upstream_retries: usize,
    /// How long requests may take to end when the server stops.
    pub shutdown_grace: SignedDuration,
    /// How often the workers look for something to do.
    pub work_every: SignedDuration,
    /// Where traces are sent: the base of a collector that speaks OTLP over HTTP. None: no traces.
    pub traces_url: Option<String>,
    /// The environment variable that holds the collector's key.
    pub traces_key_env: Option<String>,
    /// How many of a hundred requests are traced, unless who asks has decided it.
    pub traces_percent: usize,
    /// How many spans wait for the collector at most.
    pub traces_queue_max: usize,
    /// How long the collector may take.
    pub traces_timeout: SignedDuration,
}

impl Reader<'_> {
    /// Reads the settings of the daemon.
    pub fn serve(&mut self) -> Serve {
        let at = |key: &str| Path::dotted(&format!("serve.{key}"));
        let (second, minute) = (SignedDuration::from_secs(1), SignedDuration::from_secs(60));
        Serve {
            addr: self.text(&at("addr")),
            context: self.choice(&at("context"), History::ALL).unwrap_or_default(),
            notices: self.choice(&at("notices"), Notices::ALL).unwrap_or_default(),
            signing_key_env: self.variable_name(&at("signing_key_env")),
            requests_per_minute: self.count("requests_per_minute", 0, 1 << 30) as u64,
            scopes_per_token_max: self.count("scopes_per_token_max", 0, 1 << 30),
            connections_max: self.count("connections_max", 1, 1 << 20),
            body_bytes_max: self.count("body_bytes_max", 1024, 1 << 30),
            header_bytes_max: self.count("header_bytes_max", 8192, 1 << 24),
            header_timeout: self.duration(&at("header_timeout")).unwrap_or(second * 15),
            body_timeout: self.duration(&at("body_timeout")).unwrap_or(minute),
            write_timeout: self.duration(&at("write_timeout")).unwrap_or(minute),
            upstream_connect_timeout: self.duration(&at("upstream_connect_timeout")).unwrap_or(second * 10),
            upstream_idle_timeout: self.duration(&at("upstream_idle_timeout")).unwrap_or(minute * 2),
            upstream_timeout: self.duration(&at("upstream_timeout")).unwrap_or(minute * 60),
            upstream_retries: self.count("upstream_retries", 0, 10),
            shutdown_grace: self.duration(&at("shutdown_grace")).unwrap_or(second * 20),
            work_every: self.duration(&at("work_every")).unwrap_or(minute),
            traces_url: self.web_address(&at("traces_url")),
            traces_key_env: self.variable_name(&at("traces_key_env")),
            traces_percent: self.count("traces_percent", 0, 100),
            traces_queue_max: self.count("traces_queue_max", 1, 1 << 20),
            traces_timeout: self.duration(&at("traces_timeout")).unwrap_or(second * 5),
        }
    }

    fn web_address(&mut self, path: &Path) -> Option<String> {
        let allowed = "write an address that begins with http:// or https://";
        let is_one = |text: &&str| text.starts_with("http://") || text.starts_with("https://");
        self.value(path, allowed, |value| value.as_str().map(str::trim).filter(is_one).map(str::to_owned))
    }

    fn count(&mut self, name: &str, min: u32, max: u32) -> usize {
        let allowed = format!("write a whole number from {min} to {max}");
        let range = i64::from(min)..=i64::from(max);
        let read = |value: &Value| value.as_integer().filter(|n| range.contains(n));
        let number = self.value(&Path::dotted(&format!("serve.{name}")), &allowed, read);
        number.and_then(|n| usize::try_from(n).ok()).unwrap_or(min as usize)
    }
}
