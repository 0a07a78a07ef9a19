//! Faults of servers and connections: what is retried, what is an error, and that nothing wrong is returned.

use std::time::{Duration, Instant};

use ferrocdf_bytes::Code;
use ferrocdf_remote::{Settings, open};
use ferrocdf_store::{ByteRange, Expected, Store};

use crate::server::{Fault, Server};
use crate::{settings, web};

const RANGE: ByteRange = ByteRange::Bounded { start: 0, len: 4 };

#[test]
fn faults_that_pass_are_retried() {
    let retry_after = Fault::Status(503, vec![("retry-after", "0".to_string())], String::new());
    for fault in [
        Fault::Reset,
        Fault::AnswerLost,
        Fault::CutBody,
        Fault::status(429),
        Fault::status(500),
        Fault::status(502),
        Fault::status(503),
        Fault::status(504),
        retry_after,
    ] {
        let server = Server::start();
        server.put("/f/a", b"0123456789");
        let store = web(&server);
        server.fail([fault.clone(), fault.clone(), fault.clone()]);
        let found = store.get("a", RANGE).unwrap().unwrap();
        assert_eq!(found.bytes, b"0123", "{fault:?}");
        assert_eq!(server.take_ranges(), ["GET bytes=0-3"; 4], "{fault:?}");
        // The whole object, too.
        server.fail([fault.clone()]);
        assert_eq!(store.get("a", ByteRange::All).unwrap().unwrap().bytes, b"0123456789", "{fault:?}");
    }
}

#[test]
fn lasting_faults_are_told_after_the_last_retry() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let store = web(&server);
    for (fault, code, words) in [
        (Fault::Reset, Code::ECURL, ""),
        (Fault::CutBody, Code::ECURL, "the body ended after 2"),
        (Fault::status(500), Code::EIO, "500 Internal Server Error"),
        (Fault::s3(503, "SlowDown"), Code::EIO, "503 Service Unavailable, SlowDown: the words of SlowDown"),
    ] {
        server.fail_always(fault.clone());
        let error = store.get("a", RANGE).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.is_of_system(), "the same call may succeed later: {error}");
        let url = server.url("/f/a");
        assert!(error.what.starts_with(&format!("{url}: GET {url} bytes=0-3: {words}")), "{error}");
        assert!(error.what.contains("(after 8 attempts)"), "{error}");
        assert_eq!(server.take_seen().len(), 8, "{fault:?}");
    }
}

#[test]
fn refusals_are_told_at_once() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let store = web(&server);
    for (status, code) in [(400, Code::EIO), (401, Code::EAUTH), (403, Code::EACCESS), (501, Code::EIO)] {
        server.fail_always(Fault::s3(status, "TheCode"));
        let error = store.get("a", RANGE).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.what.contains("TheCode: the words of TheCode"), "{error}");
        assert_eq!(server.take_seen().len(), 1);
        assert_eq!(store.put("a", b"x").unwrap_err().code, code);
        assert_eq!(store.delete("a").unwrap_err().code, code);
        server.take_seen();
    }
    server.fail_always(Fault::s3(404, "NoSuchBucket"));
    assert_eq!(store.get("a", RANGE).unwrap_err().code, Code::ENOOBJECT);
    server.fail_always(Fault::status(404));
    assert_eq!(store.get("a", RANGE).unwrap(), None);
    assert_eq!(server.take_seen().len(), 2);
}

#[test]
fn answers_that_contradict_themselves_are_errors() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let store = web(&server);
    for (fault, words) in [
        (Fault::WrongRange, "the answer has the range \"bytes 1-4/5\", not the one that was asked for"),
        (Fault::LongBody, "but a body of 8 bytes"),
        (Fault::LongChunkedBody, "the body has more than 4 bytes"),
        (Fault::NoContentRange, "which does not tell positions and size"),
        (Fault::Gzip, "the content encoding \"gzip\""),
    ] {
        server.fail_always(fault.clone());
        let error = store.get("a", RANGE).unwrap_err();
        assert_eq!(error.code, Code::EIO, "{error}");
        assert!(error.what.contains(words), "{error}");
        assert_eq!(server.take_seen().len(), 1, "{fault:?}");
    }
    server.fail_always(Fault::Gzip);
    assert!(store.get("a", ByteRange::All).unwrap_err().what.contains("\"gzip\""));
}

#[test]
fn bytes_behind_an_answer_do_not_reach_the_next_one() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let store = web(&server);
    server.fail([Fault::ExtraBytes]);
    for _ in 0..3 {
        assert_eq!(store.get("a", RANGE).unwrap().unwrap().bytes, b"0123");
    }
}

#[test]
fn silence_and_drip_end_at_the_deadline() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    for fault in [Fault::Silence(Duration::from_secs(20)), Fault::Drip(Duration::from_secs(5))] {
        let hasty = Settings { deadline: Some(Duration::from_millis(300)), ..settings(&[]) };
        let store = open(&server.url("/f/x"), &hasty).unwrap().0;
        server.fail_always(fault.clone());
        let begin = Instant::now();
        let error = store.get("a", RANGE).unwrap_err();
        assert_eq!(error.code, Code::ECURL);
        assert!(error.what.contains("the deadline passed"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(15), "{fault:?} took {:?}", begin.elapsed());
    }
}

#[test]
fn silent_server_is_asked_again() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let impatient = Settings { idle_timeout: Some(Duration::from_millis(200)), ..settings(&[]) };
    let store = open(&server.url("/f/x"), &impatient).unwrap().0;
    for fault in [Fault::Silence(Duration::from_secs(20)), Fault::Drip(Duration::from_secs(5))] {
        server.fail([fault.clone()]);
        assert_eq!(store.get("a", RANGE).unwrap().unwrap().bytes, b"0123", "{fault:?}");
        assert_eq!(server.take_seen().len(), 2, "{fault:?}");
    }
}

#[test]
fn server_that_asks_for_more_time_than_is_left_fails_at_once() {
    let server = Server::start();
    server.fail_always(Fault::Status(503, vec![("retry-after", "3600".to_string())], String::new()));
    let begin = Instant::now();
    let error = web(&server).get("a", RANGE).unwrap_err();
    assert!(error.what.contains("the deadline passed; before that: 503"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(server.take_seen().len(), 1);
}

#[test]
fn retry_waits_as_long_as_the_server_says() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    server.fail([Fault::Status(429, vec![("retry-after", "1".to_string())], String::new())]);
    let begin = Instant::now();
    assert_eq!(web(&server).get("a", RANGE).unwrap().unwrap().bytes, b"0123");
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[test]
fn nobody_listening_and_no_such_host_are_told() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let store = open(&format!("http://{address}/f/a"), &settings(&[])).unwrap().0;
    let error = store.get("a", RANGE).unwrap_err();
    assert_eq!(error.code, Code::ECURL);
    assert!(error.what.contains("onnection refused"), "{error}");
    assert!(error.what.contains("(after 3 attempts)"), "{error}");
    let store = open("http://nowhere.invalid/f/a", &settings(&[])).unwrap().0;
    let error = store.get("a", RANGE).unwrap_err();
    assert!(error.what.contains("no address is known for the host"), "{error}");
}

#[test]
fn put_is_repeated_only_if_that_cannot_do_harm() {
    let server = Server::start();
    let store = web(&server);
    server.fail([Fault::AnswerLost, Fault::status(500)]);
    store.put("a", b"one").unwrap();
    assert_eq!(server.take_seen().len(), 3);
    // It may have been carried out: a second one would find the object.
    server.fail([Fault::AnswerLost]);
    assert!(store.put_if("b", b"one", Expected::Absent).is_err());
    assert_eq!(server.take_seen().len(), 1);
    server.fail([Fault::status(503)]);
    assert!(store.put_if("c", b"one", Expected::Absent).unwrap().is_some());
    assert_eq!(server.take_seen().len(), 2);
}

#[test]
fn failed_request_of_a_batch_leaves_the_others() {
    let server = Server::start();
    server.put("/f/a", b"0123456789");
    let store = web(&server);
    server.fail([Fault::status(403)]);
    let answers = store.get_many(&[("a", RANGE); 6]);
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1);
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Some(_)))).count(), 5);
}

/// Each fault at each of the requests of a reader: right bytes, or an error that names the object.
#[test]
fn any_fault_at_any_request_gives_right_bytes_or_an_error() {
    let content: Vec<u8> = (0..200).collect();
    let faults = [
        Fault::Reset,
        Fault::CutBody,
        Fault::LongBody,
        Fault::LongChunkedBody,
        Fault::ExtraBytes,
        Fault::WrongRange,
        Fault::NoContentRange,
        Fault::Gzip,
        Fault::Silence(Duration::from_millis(50)),
        Fault::Drip(Duration::from_millis(1)),
        Fault::status(200),
        Fault::status(206),
        Fault::status(304),
        Fault::status(403),
        Fault::status(412),
        Fault::status(416),
        Fault::status(429),
        Fault::status(500),
        Fault::status(503),
    ];
    for fault in faults {
        let server = Server::start();
        server.put("/f/a", &content);
        let store = web(&server);
        for request in 0..10 {
            server.fail_from(request, [fault.clone()]);
            for at in 0..10u64 {
                let range = ByteRange::Bounded { start: at * 20, len: 20 };
                // An answer that is complete and wrong in itself cannot be recognized: the object is empty, says a 200.
                let may_lie = fault == Fault::status(200);
                match store.get("a", range).and_then(|found| found.unwrap().check("a", range)) {
                    Ok(found) if may_lie && found.total == 0 => {}
                    Ok(found) => {
                        assert_eq!(
                            found.bytes,
                            content[found.start as usize..][..20],
                            "{fault:?} at {request}"
                        );
                        assert_eq!(found.total, 200);
                    }
                    Err(error) => assert!(error.what.contains("/f/a"), "{error}"),
                }
            }
        }
    }
}
