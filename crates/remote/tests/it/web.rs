//! Reading and writing over plain HTTP.

use std::sync::{Arc, Mutex};

use ferrocdf_bytes::Code;
use ferrocdf_remote::{Observer, RequestRecord, Secret, Settings, open};
use ferrocdf_store::{Blob, ByteRange, Cost, Expected, MemoryBlob, ObjectBlob, ReadRequest, Store, Suffix};

use crate::server::{ETags, Fault, Server};
use crate::{settings, web};

fn bytes(store: &dyn Store, key: &str, range: ByteRange) -> Vec<u8> {
    store.get(key, range).unwrap().unwrap().check(key, range).unwrap().bytes
}

#[test]
fn each_read_is_one_get() {
    let server = Server::start();
    server.put("/f/a b", b"0123456789");
    let store = web(&server);
    for (range, found, request) in [
        (ByteRange::All, &b"0123456789"[..], "GET"),
        (ByteRange::Bounded { start: 3, len: 4 }, b"3456", "GET bytes=3-6"),
        (ByteRange::Bounded { start: 8, len: 4 }, b"89", "GET bytes=8-11"),
        (ByteRange::Bounded { start: 2, len: 0 }, b"", "GET bytes=2-2"),
        (ByteRange::Bounded { start: 12, len: 4 }, b"", "GET bytes=12-15"),
        (ByteRange::Suffix(3), b"789", "GET bytes=-3"),
        (ByteRange::Suffix(30), b"0123456789", "GET bytes=-30"),
    ] {
        assert_eq!(bytes(&*store, "a b", range), found, "{range:?}");
        assert_eq!(server.take_ranges(), [request], "{range:?}");
    }
    assert_eq!(store.get("absent", ByteRange::All).unwrap(), None);
    assert_eq!(server.take_ranges(), ["GET"]);
}

#[test]
fn size_and_version_come_with_the_bytes() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let object = ObjectBlob::new(web(&server), "a");
    let mut into = [0; 4];
    assert_eq!(object.read_suffix(&mut into).unwrap(), Suffix { len: 4, size: 10 });
    assert_eq!(object.size().unwrap(), 10);
    assert_eq!(object.read_at(20, &mut into).unwrap(), 0);
    assert_eq!(server.take_ranges(), ["GET bytes=-4"]);
    // A first read behind the end, and of an empty object, where the server says nothing of the size.
    server.behave(|behaviour| behaviour.tells_size = false);
    assert_eq!(ObjectBlob::new(web(&server), "a").read_at(20, &mut into).unwrap(), 0);
    assert_eq!(server.take_ranges(), ["GET bytes=20-23", "GET bytes=0-0"]);
    server.put("/f/empty", b"");
    assert_eq!(ObjectBlob::new(web(&server), "empty").size().unwrap(), 0);
    assert_eq!(server.take_ranges(), ["GET bytes=0-0", "GET"]);
}

#[test]
fn batch_has_all_requests_in_flight() {
    let server = Server::start();
    let content: Vec<u8> = (0..100).collect();
    server.put("/f/a", &content);
    // The server answers none before 32 have arrived.
    server.behave(|behaviour| behaviour.gather = 32);
    let object = ObjectBlob::new(web(&server), "a");
    let mut buffers = [[0; 2]; 50];
    let mut requests: Vec<_> =
        buffers.iter_mut().enumerate().map(|(at, into)| ReadRequest::new(2 * at as u64, into)).collect();
    object.read_many(&mut requests).unwrap();
    let found: Vec<u8> = requests.iter().flat_map(|request| request.bytes().to_vec()).collect();
    assert_eq!(found, content);
    let seen = server.take_seen();
    assert_eq!(seen.len(), 50);
    let mut connections: Vec<_> = seen.iter().map(|seen| seen.connection).collect();
    connections.sort();
    connections.dedup();
    assert_eq!(connections.len(), 32, "connections are used again");
    let cost = object.cost();
    assert_eq!(cost, Cost { in_flight: 32, ..Cost::REMOTE });
}

#[test]
fn connection_is_used_again() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let store = web(&server);
    for at in 0..5 {
        bytes(&*store, "a", ByteRange::Bounded { start: at, len: 1 });
        assert_eq!(store.get("absent", ByteRange::Suffix(1)).unwrap(), None);
    }
    assert!(server.take_seen().iter().all(|seen| seen.connection == 0));
}

#[test]
fn requests_ask_for_plain_bytes_and_name_the_program() {
    let server = Server::start();
    server.put("/f/a", b"x");
    bytes(&*web(&server), "a", ByteRange::All);
    let seen = &server.take_seen()[0];
    assert_eq!(seen.header("accept-encoding"), Some("identity"));
    assert!(seen.header("user-agent").unwrap().starts_with("ferrocdf/"));
    assert_eq!(seen.header("authorization"), None);
}

#[test]
fn server_without_ranges_is_read_once() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    server.put("/f/b", b"abc");
    for (etags, has_times) in
        [(ETags::Strong, true), (ETags::Weak, false), (ETags::None, true), (ETags::None, false)]
    {
        server.behave(|behaviour| {
            (behaviour.has_ranges, behaviour.etags, behaviour.has_times) = (false, etags, has_times)
        });
        let received = Arc::new(Mutex::new(0));
        let sum = received.clone();
        let add = move |record: &RequestRecord<'_>| *sum.lock().unwrap() += record.received;
        let observed = Settings { observer: Some(Observer(Arc::new(add))), ..settings(&[]) };
        let store = open(&server.url("/f/x"), &observed).unwrap().0;
        let object = ObjectBlob::new(store.clone(), "a");
        let mut buffers = [[0; 3]; 8];
        let mut requests: Vec<_> = buffers.iter_mut().map(|into| ReadRequest::new(4, into)).collect();
        object.read_many(&mut requests).unwrap();
        assert!(requests.iter().all(|request| request.bytes() == b"456"));
        assert_eq!(object.size().unwrap(), 10);
        assert_eq!(bytes(&*store, "a", ByteRange::Suffix(2)), b"89");
        assert_eq!(bytes(&*store, "a", ByteRange::Bounded { start: 20, len: 2 }), b"");
        assert_eq!(*received.lock().unwrap(), 10, "the object came once ({etags:?}, {has_times})");
        assert_eq!(bytes(&*store, "b", ByteRange::Suffix(2)), b"bc");
    }
}

#[test]
fn changed_object_is_noticed_without_ranges() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    server.behave(|behaviour| behaviour.has_ranges = false);
    let object = ObjectBlob::new(web(&server), "a");
    let mut into = [0; 4];
    object.read_at(0, &mut into).unwrap();
    server.put("/f/a", b"abcdefghij");
    assert!(object.read_at(4, &mut into).unwrap_err().what.contains("replaced the object"));
    object.forget();
    object.read_at(4, &mut into).unwrap();
    assert_eq!(&into, b"efgh");
}

#[test]
fn large_object_without_ranges_is_an_error() {
    let server = Server::start();
    server.put("/f/a", &[7; 100]);
    server.behave(|behaviour| behaviour.has_ranges = false);
    let limited = Settings { whole_limit: Some(99), ..settings(&[]) };
    let store = open(&server.url("/f/x"), &limited).unwrap().0;
    let error = store.get("a", ByteRange::Suffix(1)).unwrap_err();
    assert!(error.what.contains("the server ignores ranges, and the object has 100 bytes"), "{error}");
    // All of it is a request that every server can answer.
    assert_eq!(bytes(&*store, "a", ByteRange::All), [7; 100]);
}

#[test]
fn bytes_of_two_versions_are_never_mixed() {
    for etags in [ETags::Strong, ETags::Weak, ETags::None] {
        let server = Server::start();
        server.behave(|behaviour| behaviour.etags = etags);
        server.put("/f/a", b"0123456789");
        let object = ObjectBlob::new(web(&server), "a");
        let mut into = [0; 4];
        object.read_at(0, &mut into).unwrap();
        server.fail_from(1, [Fault::Replace(b"abcdefghij".to_vec())]);
        let mut buffers = [[0; 2]; 4];
        let mut requests: Vec<_> =
            buffers.iter_mut().enumerate().map(|(at, into)| ReadRequest::new(at as u64, into)).collect();
        let error = object.read_many(&mut requests).unwrap_err();
        assert!(error.what.contains("a writer replaced the object; open it again"), "{error}");
        object.forget();
        object.read_at(4, &mut into).unwrap();
        assert_eq!(&into, b"efgh");
        // A shorter object: the range is behind its end.
        server.put("/f/a", b"x");
        assert!(object.read_at(8, &mut into[..2]).unwrap_err().what.contains("replaced the object"));
    }
}

#[test]
fn objects_are_put_and_deleted() {
    let server = Server::start();
    let store = web(&server);
    let first = store.put("a b/ü", b"one").unwrap();
    assert!(server.state().objects.contains_key("/f/a b/ü"));
    assert_eq!(store.get("a b/ü", ByteRange::All).unwrap().unwrap().version, first);
    assert_eq!(store.put_if("a b/ü", b"two", Expected::Absent).unwrap(), None);
    let second = store.put_if("a b/ü", b"two", Expected::Version(&first)).unwrap().unwrap();
    assert_eq!(store.put_if("a b/ü", b"three", Expected::Version(&first)).unwrap(), None);
    assert_ne!(first, second);
    store.delete("a b/ü").unwrap();
    store.delete("a b/ü").unwrap();
    assert!(server.state().objects.is_empty());
    let error = store.list("").unwrap_err();
    assert_eq!(error.code, Code::ENOTBUILT);
    assert!(error.what.contains("web servers have no listing"), "{error}");
}

#[test]
fn weak_versions_are_no_condition_of_puts() {
    let server = Server::start();
    server.behave(|behaviour| behaviour.etags = ETags::Weak);
    let store = web(&server);
    let version = store.put("a", b"one").unwrap();
    assert_eq!(store.get("a", ByteRange::All).unwrap().unwrap().version, version);
    assert_eq!(store.put_if("a", b"two", Expected::Version(&version)).unwrap_err().code, Code::ENOTBUILT);
    assert_eq!(bytes(&*store, "a", ByteRange::All), b"one");
}

#[test]
fn names_that_are_no_keys_are_refused_without_a_request() {
    let server = Server::start();
    let store = web(&server);
    for key in ["", "/a", "a//b", "..", "a/../b", "a\0b"] {
        assert_eq!(store.get(key, ByteRange::All).unwrap_err().code, Code::EINVAL);
        assert_eq!(store.put(key, b"").unwrap_err().code, Code::EINVAL);
        assert_eq!(store.delete(key).unwrap_err().code, Code::EINVAL);
    }
    assert!(server.take_seen().is_empty());
}

#[test]
fn query_and_escapes_of_the_url_stay() {
    let server = Server::start();
    server.put("/f/a%2Fb.nc", b"x");
    let (store, key) = open(&server.url("/f/a%252Fb.nc?signature=hush"), &settings(&[])).unwrap();
    assert_eq!(bytes(&*store, &key, ByteRange::All), b"x");
    assert_eq!(server.take_seen()[0].target, "/f/a%252Fb.nc?signature=hush");
    assert_eq!(store.name(), server.url("/f"));
    server.fail_always(Fault::status(403));
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert!(!error.what.contains("hush") && !format!("{store:?}").contains("hush"), "{error}");
}

#[test]
fn redirects_are_followed_without_credentials_for_others() {
    let (server, other) = (Server::start(), Server::start());
    server.put("/f/here", b"here");
    other.put("/there", b"there");
    let known =
        Settings { user: Some("me".to_string()), password: Some(Secret::new("hush")), ..settings(&[]) };
    let store = open(&server.url("/f/x"), &known).unwrap().0;
    for status in [301, 302, 303, 307, 308] {
        server.fail([Fault::Redirect(status, "here".to_string())]);
        assert_eq!(bytes(&*store, "a", ByteRange::Bounded { start: 1, len: 2 }), b"er");
        let seen = server.take_seen();
        assert_eq!(seen.len(), 2);
        let wanted = Some("Basic bWU6aHVzaA==");
        assert!(seen.iter().all(|seen| seen.header("authorization") == wanted), "{seen:?}");
        assert_eq!(seen[1].header("range"), Some("bytes=1-2"));
        server.fail([Fault::Redirect(status, other.url("/there"))]);
        assert_eq!(bytes(&*store, "a", ByteRange::Bounded { start: 1, len: 2 }), b"he");
        assert_eq!(other.take_seen()[0].header("authorization"), None);
        server.take_seen();
    }
    server.fail_always(Fault::Redirect(302, "again".to_string()));
    let error = store.get("a", ByteRange::All).unwrap_err();
    assert!(error.what.ends_with("more than 10 redirects"), "{error}");
    server.fail_always(Fault::Redirect(302, "file:///etc/passwd".to_string()));
    assert!(store.get("a", ByteRange::All).unwrap_err().what.contains("to a URL that is malformed"));
}

#[test]
fn proxy_is_asked_except_for_named_hosts() {
    let server = Server::start();
    server.put("/f/a", b"x");
    let proxy = server.url("");
    let proxied = settings(&[("HTTP_PROXY", &proxy), ("NO_PROXY", "127.0.0.1")]);
    let (store, key) = open("http://nowhere.invalid/f/a", &proxied).unwrap();
    assert_eq!(bytes(&*store, &key, ByteRange::All), b"x");
    let seen = server.take_seen();
    assert_eq!((&*seen[0].method, &*seen[0].target), ("CONNECT", "nowhere.invalid:80"));
    assert_eq!(seen[1].header("host"), Some("nowhere.invalid"));
    let (store, key) = open(&server.url("/f/a"), &proxied).unwrap();
    assert_eq!(bytes(&*store, &key, ByteRange::All), b"x");
    assert_eq!(server.take_ranges(), ["GET"]);
}

#[test]
fn each_request_is_recorded() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    server.fail([Fault::status(503)]);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let keep = move |record: &RequestRecord<'_>| {
        let line = record.to_string();
        let (before, after) = (line.split(" bytes ").next().unwrap(), line.split(" ms").nth(1).unwrap());
        kept.lock().unwrap().push(format!("{before}{after}"));
    };
    let observed = Settings { observer: Some(Observer(Arc::new(keep))), ..settings(&[]) };
    let store = open(&server.url("/f/x"), &observed).unwrap().0;
    store.get("a", ByteRange::Bounded { start: 1, len: 3 }).unwrap();
    store.put("b", b"hello").unwrap();
    let url = server.url("/f");
    assert_eq!(
        *lines.lock().unwrap(),
        [
            format!("GET {url}/a bytes=1-3 503 0 (503 Service Unavailable)"),
            format!("GET {url}/a bytes=1-3 206 3 attempt 2"),
            format!("PUT {url}/b 200 5"),
        ]
    );
}

/// The test below starts this one again as a program of its own.
#[test]
fn program_that_reads_the_url_of_its_environment() {
    let Ok(url) = std::env::var("FERROCDF_TEST_URL") else { return };
    let (store, key) = open(&url, &Settings::default()).unwrap();
    assert_eq!(bytes(&*store, &key, ByteRange::Suffix(3)), b"789");
}

#[test]
fn log_of_requests_goes_to_standard_error() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let run = |log: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "web::program_that_reads_the_url_of_its_environment", "--nocapture"])
            .env("FERROCDF_TEST_URL", server.url("/f/a?hush"))
            .env("FERROCDF_LOG", log)
            .env("NO_PROXY", "*")
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let line = format!("ferrocdf: GET {} bytes=-3 206 3 bytes ", server.url("/f/a"));
    let logged = run("requests");
    assert_eq!(logged.lines().filter(|text| text.starts_with(&line)).count(), 1, "{logged}");
    assert!(!run("").contains("GET"));
}

/// A blob that is read in pieces only.
struct Pieces(MemoryBlob);

impl Blob for Pieces {
    ferrocdf_store::forward!([.0] size name cost);

    fn read_at(&self, at: u64, into: &mut [u8]) -> ferrocdf_bytes::Result<usize> {
        assert!(into.len() <= 1 << 20, "{} bytes at once", into.len());
        self.0.read_at(at, into)
    }
}

#[test]
fn blob_is_put_piece_by_piece_and_again_after_a_fault() {
    let server = Server::start();
    let bytes: Vec<u8> = (0..5_000_000u32).map(|at| (at % 251) as u8).collect();
    let store = web(&server);
    for faults in [vec![], vec![Fault::AnswerLost, Fault::status(503)]] {
        let requests = faults.len() + 1;
        server.fail(faults);
        let version = store.put_blob("a", &Pieces(MemoryBlob::new(bytes.clone()))).unwrap();
        let seen = server.take_seen();
        assert!(
            seen.iter().all(|seen| seen.method == "PUT" && seen.header("content-length") == Some("5000000"))
        );
        assert_eq!(seen.len(), requests);
        let found = store.get("a", ByteRange::All).unwrap().unwrap();
        assert_eq!((found.version, found.bytes.len()), (version, bytes.len()));
        assert!(found.bytes == bytes);
        server.take_seen();
    }
}

/// As the data centres of NASA do it: the server of the data sends the client to another one, where it signs on; the client comes back with
/// a code, for which it gets a cookie.
#[test]
fn sign_on_at_another_server_goes_by_netrc_and_cookies() {
    let (server, other) = (Server::start(), Server::start());
    server.put("/f/x", b"0123");
    let moved = |location: String, cookie: &str| {
        let headers = vec![("location", location), ("set-cookie", format!("{cookie}=1; Path=/"))];
        Fault::Status(302, headers, String::new())
    };
    server.fail([moved(other.url("/sign-on"), "session"), moved(server.url("/f/x"), "token")]);
    other.fail([moved(server.url("/f/x?code=7"), "other")]);
    let folder = tempfile::tempdir().unwrap();
    let netrc = folder.path().join("netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login me password hush").unwrap();
    let (store, key) = open(&server.url("/f/x"), &settings(&[("NETRC", netrc.to_str().unwrap())])).unwrap();
    for _ in 0..2 {
        assert_eq!(&*store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"0123");
    }
    let (seen, signed) = (server.take_seen(), other.take_seen());
    assert_eq!((seen.len(), signed.len()), (4, 1));
    assert_eq!(signed[0].header("authorization"), Some("Basic bWU6aHVzaA=="));
    assert_eq!(seen[1].target, "/f/x?code=7");
    assert!(seen[2..].iter().all(|seen| seen.header("cookie").is_some_and(|text| text.contains("token=1"))));
}
