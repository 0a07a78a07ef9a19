//! A web server on loopback that tests program: objects in memory, ranges, conditions, faults, and as much of the REST interface
//! of S3 as the client uses.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::s3;

/// What goes wrong with the answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Another status, with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// The connection ends before the answer.
    Reset,
    /// The connection ends in the middle of the body.
    CutBody,
    /// The body is longer than the range, and says so.
    LongBody,
    /// The body is longer than the range, and chunked, so that no header says so.
    LongChunkedBody,
    /// More bytes follow on the connection than the answer has.
    ExtraBytes,
    /// The bytes are of another range, as the header says.
    WrongRange,
    /// The answer to a range has no header that names the range.
    NoContentRange,
    /// The body is said to be compressed.
    Gzip,
    /// No answer for this time.
    Silence(Duration),
    /// The body arrives byte by byte, each after this time.
    Drip(Duration),
    /// The object is another one before it is read.
    Replace(Vec<u8>),
    /// The request is carried out, and the connection ends before the answer.
    AnswerLost,
    /// The client is sent to another URL.
    Redirect(u16, String),
}

impl Fault {
    /// An error status without anything else.
    pub fn status(status: u16) -> Fault {
        Fault::Status(status, Vec::new(), String::new())
    }

    /// An error of S3.
    pub fn s3(status: u16, code: &str) -> Fault {
        let body = format!(
            "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>the words of {code}</Message></Error>"
        );
        Fault::Status(status, Vec::new(), body)
    }
}

/// The ETags of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ETags {
    Strong,
    Weak,
    None,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    /// Path with its escapes, and query.
    pub target: String,
    pub headers: BTreeMap<String, String>,
    /// Number of the connection.
    pub connection: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// False if ranges are ignored.
    pub has_ranges: bool,
    pub etags: ETags,
    /// True if answers have the time of the last change.
    pub has_times: bool,
    /// True if an answer 416 tells the size of the object.
    pub tells_size: bool,
    /// Requests that must be in flight at once before one is answered.
    pub gather: usize,
    /// The region that signatures must name.
    pub region: Option<String>,
}

impl Default for Behaviour {
    fn default() -> Self {
        let etags = ETags::Strong;
        Behaviour { has_ranges: true, etags, has_times: true, tells_size: true, gather: 0, region: None }
    }
}

#[derive(Clone, Debug)]
pub struct Object {
    pub bytes: Vec<u8>,
    pub number: u64,
}

#[derive(Debug, Default)]
pub struct State {
    pub objects: BTreeMap<String, Object>,
    /// Number of puts, from which versions come.
    pub puts: u64,
    /// Parts of uploads that are not complete.
    pub uploads: BTreeMap<String, BTreeMap<u32, Vec<u8>>>,
    pub seen: Vec<Seen>,
    /// Faults of the next requests, in their order.
    faults: VecDeque<Option<Fault>>,
    /// The fault of all requests that have none of their own.
    always: Option<Fault>,
    pub behaviour: Behaviour,
    in_flight: usize,
    /// Answers to requests for these paths, whatever they are.
    pub fixed: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
    is_closed: AtomicBool,
}

/// A running server, which ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::<Shared>::default();
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if accepting.is_closed.load(SeqCst) {
                    return;
                }
                let shared = accepting.clone();
                // Errors are those of clients that end connections.
                std::thread::spawn(move || stream.map(|stream| serve(&stream, number, &shared)));
            }
        });
        Server { address, shared }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.state().behaviour);
    }

    /// Makes `bytes` the content of the object at a path.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        self.state().put(path, bytes.to_vec());
    }

    /// Sets the faults of the next requests.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.fail_from(0, faults);
    }

    /// Sets the faults of a request, counted from 0 on, and of those after it.
    pub fn fail_from(&self, request: usize, faults: impl IntoIterator<Item = Fault>) {
        let none = std::iter::repeat_n(None, request);
        self.state().faults = none.chain(faults.into_iter().map(Some)).collect();
    }

    /// Sets the fault of all requests.
    pub fn fail_always(&self, fault: Fault) {
        self.state().always = Some(fault);
    }

    /// Returns the requests since the last call.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.state().seen)
    }

    /// Returns methods and ranges of the requests since the last call.
    pub fn take_ranges(&self) -> Vec<String> {
        let word = |seen: Seen| match seen.header("range") {
            Some(range) => format!("{} {range}", seen.method),
            None => seen.method,
        };
        self.take_seen().into_iter().map(word).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

impl State {
    pub fn put(&mut self, path: &str, bytes: Vec<u8>) -> String {
        self.puts += 1;
        self.objects.insert(path.to_string(), Object { bytes, number: self.puts });
        format!("\"v{}\"", self.puts)
    }
}

/// An answer before it is sent.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn new(status: u16) -> Reply {
        Reply { status, headers: Vec::new(), body: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: impl ToString) -> Reply {
        self.headers.push((name.to_string(), value.to_string()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Reply {
        self.body = body.into();
        self
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }
}

fn serve(stream: &TcpStream, connection: usize, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some((seen, body)) = read_request(&mut reader, connection)? {
        if seen.method == "CONNECT" {
            shared.state.lock().unwrap().seen.push(seen);
            (&*stream).write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            continue;
        }
        let fault = begin(shared, &seen);
        let reply = answer(shared, &seen, body, fault.as_ref());
        shared.state.lock().unwrap().in_flight -= 1;
        if !send(stream, &seen, reply, fault)? {
            // Unread bytes would turn the end of the connection into a reset of the answer.
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
    Ok(())
}

/// Notes a request, waits for others if the server gathers them, and returns its fault.
fn begin(shared: &Shared, seen: &Seen) -> Option<Fault> {
    let mut state = shared.state.lock().unwrap();
    state.seen.push(seen.clone());
    state.in_flight += 1;
    if state.in_flight >= state.behaviour.gather {
        state.behaviour.gather = 0;
        shared.arrived.notify_all();
    }
    let fault = state.faults.pop_front().flatten().or_else(|| state.always.clone());
    let waiting = |state: &mut State| state.behaviour.gather > 0;
    drop(shared.arrived.wait_timeout_while(state, Duration::from_secs(60), waiting).unwrap());
    fault
}

fn read_request(
    reader: &mut BufReader<&TcpStream>,
    connection: usize,
) -> std::io::Result<Option<(Seen, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_string);
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(ErrorKind::InvalidData.into());
    };
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
    }
    let len = headers.get("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
    let mut body = vec![0; len];
    reader.read_exact(&mut body)?;
    Ok(Some((Seen { method, target, headers, connection }, body)))
}

fn answer(shared: &Shared, seen: &Seen, body: Vec<u8>, fault: Option<&Fault>) -> Reply {
    let mut state = shared.state.lock().unwrap();
    let path = decode(seen.target.split('?').next().unwrap_or_default());
    match fault {
        Some(Fault::Status(status, headers, body)) => {
            let mut reply = Reply::new(*status).body(body.as_bytes());
            for (name, value) in headers {
                reply = reply.with(name, value);
            }
            return reply;
        }
        Some(Fault::Reset) => return Reply::new(500),
        Some(Fault::Redirect(status, url)) => return Reply::new(*status).with("location", url),
        Some(Fault::Replace(bytes)) => drop(state.put(&path, bytes.clone())),
        _ => {}
    }
    if let Some(text) = state.fixed.get(&path) {
        return Reply::new(200).body(text.as_bytes());
    }
    let scope = seen.header("authorization").and_then(|value| value.split('/').nth(2));
    if let (Some(region), Some(signed)) = (&state.behaviour.region, scope)
        && region != signed
    {
        let text =
            format!("<Error><Code>AuthorizationHeaderMalformed</Code><Region>{region}</Region></Error>");
        return Reply::new(400).body(text);
    }
    if let Some(reply) = s3::answer(&mut state, seen, &path, &body) {
        return reply;
    }
    match seen.method.as_str() {
        "GET" => get(&state, seen, &path),
        "PUT" => put(&mut state, seen, &path, body),
        "DELETE" => Reply::new(if state.objects.remove(&path).is_some() { 204 } else { 404 }),
        _ => Reply::new(405),
    }
}

fn get(state: &State, seen: &Seen, path: &str) -> Reply {
    let behaviour = &state.behaviour;
    let Some(object) = state.objects.get(path) else {
        let code = "<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>";
        return Reply::new(404).body(code);
    };
    let etag = match behaviour.etags {
        ETags::Strong => Some(format!("\"v{}\"", object.number)),
        ETags::Weak => Some(format!("W/\"v{}\"", object.number)),
        ETags::None => None,
    };
    // A time for each version.
    let time = format!("Thu, 01 Jan 1970 00:00:{:02} GMT", object.number % 60);
    let described = |reply: Reply| {
        let mut reply = reply.with("x-goog-generation", object.number);
        if let Some(etag) = &etag {
            reply = reply.with("etag", etag);
        }
        if behaviour.has_times {
            reply = reply.with("last-modified", &time);
        }
        reply
    };
    let is_same = match seen.header("if-none-match") {
        Some(known) => Some(known) == etag.as_deref(),
        None => behaviour.has_times && seen.header("if-modified-since") == Some(time.as_str()),
    };
    if is_same {
        return described(Reply::new(304));
    }
    let total = object.bytes.len() as u64;
    let range =
        seen.header("range").filter(|_| behaviour.has_ranges).and_then(|text| text.strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|text| text.split_once('-')) else {
        return described(Reply::new(200).body(object.bytes.clone()));
    };
    let (start, end) = match first.parse::<u64>() {
        Ok(start) => (start, last.parse::<u64>().map_or(total, |last| total.min(last.saturating_add(1)))),
        Err(_) => (total.saturating_sub(last.parse().unwrap()), total),
    };
    if start >= end {
        let reply = Reply::new(416);
        return match behaviour.tells_size {
            true => described(reply.with("content-range", format!("bytes */{total}"))),
            false => reply,
        };
    }
    let reply = Reply::new(206).with("content-range", format!("bytes {start}-{}/{total}", end - 1));
    described(reply.body(&object.bytes[start as usize..end as usize]))
}

fn put(state: &mut State, seen: &Seen, path: &str, body: Vec<u8>) -> Reply {
    let current = state.objects.get(path).map(|object| format!("\"v{}\"", object.number));
    let generation = state.objects.get(path).map_or(0, |object| object.number).to_string();
    let is_refused = match (seen.header("if-none-match"), seen.header("if-match")) {
        (Some("*"), _) => current.is_some(),
        (_, Some(etag)) => current.as_deref() != Some(etag),
        _ => seen.header("x-goog-if-generation-match").is_some_and(|wanted| wanted != generation),
    };
    if is_refused {
        return Reply::new(412);
    }
    let etag = state.put(path, body);
    match state.behaviour.etags {
        ETags::Strong => Reply::new(200).with("etag", etag).with("x-goog-generation", state.puts),
        _ => Reply::new(204),
    }
}

/// Sends an answer with its fault. Returns false if the connection is to end.
fn send(
    mut stream: &TcpStream,
    seen: &Seen,
    mut reply: Reply,
    fault: Option<Fault>,
) -> std::io::Result<bool> {
    let mut said = reply.body.len();
    let mut sent = reply.body.len();
    match &fault {
        Some(Fault::Reset | Fault::AnswerLost) => return Ok(false),
        Some(Fault::Silence(time)) => std::thread::sleep(*time),
        Some(Fault::CutBody) => sent /= 2,
        Some(Fault::LongBody) => {
            reply.body.extend(b"more");
            (said, sent) = (reply.body.len(), reply.body.len());
        }
        Some(Fault::LongChunkedBody | Fault::ExtraBytes) => {
            reply.body.extend(b"HTTP/1.1 200 OK\r\n\r\n");
            sent = reply.body.len();
        }
        Some(Fault::WrongRange) => {
            for (name, value) in &mut reply.headers {
                if name == "content-range" {
                    *value = format!("bytes 1-{}/{}", said, said + 1);
                }
            }
        }
        Some(Fault::NoContentRange) => reply.headers.retain(|(name, _)| name != "content-range"),
        Some(Fault::Gzip) => reply = reply.with("content-encoding", "gzip"),
        _ => {}
    }
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, "Words");
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let is_chunked = fault == Some(Fault::LongChunkedBody);
    match is_chunked {
        true => head += "transfer-encoding: chunked\r\n\r\n",
        false if reply.has("content-length") || matches!(reply.status, 204 | 304) => head += "\r\n",
        false => head += &format!("content-length: {said}\r\n\r\n"),
    }
    stream.write_all(head.as_bytes())?;
    if seen.method == "HEAD" || matches!(reply.status, 204 | 304) {
        return Ok(true);
    }
    let body = &reply.body[..sent];
    match &fault {
        Some(Fault::Drip(time)) => {
            for byte in body {
                stream.write_all(&[*byte])?;
                std::thread::sleep(*time);
            }
        }
        _ if is_chunked => {
            stream.write_all(format!("{:x}\r\n", body.len()).as_bytes())?;
            stream.write_all(body)?;
            stream.write_all(b"\r\n0\r\n\r\n")?;
        }
        _ => stream.write_all(body)?,
    }
    Ok(fault != Some(Fault::CutBody))
}

/// Replaces percent escapes.
pub fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}
