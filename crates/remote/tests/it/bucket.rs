//! Buckets of S3: signatures, credentials, listings, parts, regions.

use ferrocdf_bytes::Code;
use ferrocdf_remote::{Addressing, Environment, Protocol, RemoteStore, Secret, Settings, open};
use ferrocdf_store::{Blob, BlobMut, ByteRange, Expected, MemoryBlob, ObjectBlob, Store, suite};

use crate::server::{Fault, Server};
use crate::{s3, s3_settings, settings};

/// A store that keeps its server.
#[derive(Debug)]
struct Served(std::sync::Arc<RemoteStore>, #[expect(dead_code)] Server);

impl Store for Served {
    fn get(&self, key: &str, range: ByteRange) -> ferrocdf_bytes::Result<Option<ferrocdf_store::Fetched>> {
        self.0.get(key, range)
    }

    fn get_many(
        &self,
        requests: &[(&str, ByteRange)],
    ) -> Vec<ferrocdf_bytes::Result<Option<ferrocdf_store::Fetched>>> {
        self.0.get_many(requests)
    }

    fn get_many_into(
        &self,
        requests: &mut [ferrocdf_store::GetInto<'_>],
    ) -> Vec<ferrocdf_bytes::Result<Option<ferrocdf_store::Filled>>> {
        self.0.get_many_into(requests)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> ferrocdf_bytes::Result<ferrocdf_store::Version> {
        self.0.put(key, bytes)
    }

    fn put_if(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Expected<'_>,
    ) -> ferrocdf_bytes::Result<Option<ferrocdf_store::Version>> {
        self.0.put_if(key, bytes, expected)
    }

    fn delete(&self, key: &str) -> ferrocdf_bytes::Result<()> {
        self.0.delete(key)
    }

    fn list(&self, folder: &str) -> ferrocdf_bytes::Result<ferrocdf_store::Listing> {
        self.0.list(folder)
    }

    fn cost(&self) -> ferrocdf_store::Cost {
        self.0.cost()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[test]
fn bucket_behaves_as_a_store() {
    suite::store(|_| {
        let server = Server::start();
        Served(s3(&server), server)
    });
}

#[test]
fn requests_are_signed_and_name_bucket_and_key() {
    let server = Server::start();
    server.put("/bucket/a b+c/ü", b"0123456789");
    let mut set = s3_settings(&server);
    set.session_token = None;
    set.environment = Environment::of([
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "hush-secret"),
        ("AWS_SESSION_TOKEN", "the-token"),
        ("AWS_REGION", "eu-west-7"),
        ("AWS_REQUEST_PAYER", "requester"),
    ]);
    let (store, key) = open("s3://bucket/a b+c/ü", &set).unwrap();
    let range = ByteRange::Suffix(3);
    assert_eq!(store.get(&key, range).unwrap().unwrap().bytes, b"789");
    let seen = server.take_seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!((&*seen[0].method, &*seen[0].target), ("GET", "/bucket/a%20b%2Bc/%C3%BC"));
    let signature = seen[0].header("authorization").unwrap();
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{signature}");
    assert!(signature.contains("/eu-west-7/s3/aws4_request"), "{signature}");
    assert_eq!(seen[0].header("x-amz-security-token"), Some("the-token"));
    assert_eq!(seen[0].header("x-amz-request-payer"), Some("requester"));
    assert_eq!(seen[0].header("range"), Some("bytes=-3"));
    assert!(!format!("{store:?}").contains("hush-secret"));
    assert_eq!(store.name(), "s3://bucket");
}

#[test]
fn reads_are_one_get_each() {
    let server = Server::start();
    server.put("/bucket/a", b"0123456789");
    let object = ObjectBlob::new(s3(&server), "a");
    let mut into = [0; 4];
    object.read_at(0, &mut into).unwrap();
    object.read_suffix(&mut into).unwrap();
    assert_eq!(object.size().unwrap(), 10);
    assert_eq!(server.take_ranges(), ["GET bytes=0-3", "GET bytes=-4"]);
    assert_eq!(s3(&server).get("absent", ByteRange::Suffix(1)).unwrap(), None);
    server.put("/bucket/empty", b"");
    assert_eq!(ObjectBlob::new(s3(&server), "empty").size().unwrap(), 0);
}

#[test]
fn public_bucket_is_read_without_a_signature() {
    let server = Server::start();
    server.put("/bucket/a", b"x");
    let anonymous = Settings { endpoint_url: Some(server.url("")), ..settings(&[]) };
    let refrained = Settings { no_sign_request: Some(true), ..s3_settings(&server) };
    for (set, words) in [
        (anonymous, "no credentials were found (looked for AWS_ACCESS_KEY_ID"),
        (refrained, "the request was not signed, as the settings say"),
    ] {
        let store = open("s3://bucket/a", &set).unwrap().0;
        assert_eq!(store.get("a", ByteRange::All).unwrap().unwrap().bytes, b"x");
        assert_eq!(server.take_seen()[0].header("authorization"), None);
        server.fail([Fault::s3(403, "AccessDenied")]);
        let error = store.get("a", ByteRange::All).unwrap_err();
        assert_eq!(error.code, Code::EACCESS);
        assert!(error.what.contains("403 Forbidden, AccessDenied") && error.what.contains(words), "{error}");
        server.take_seen();
    }
}

#[test]
fn errors_of_s3_have_its_codes() {
    let server = Server::start();
    let store = s3(&server);
    for (fault, code, words) in [
        (Fault::s3(403, "InvalidAccessKeyId"), Code::EACCESS, "check the keys (AWS_ACCESS_KEY_ID)"),
        (Fault::s3(403, "ExpiredToken"), Code::EACCESS, "get a new one"),
        (
            Fault::s3(404, "NoSuchBucket"),
            Code::ENOOBJECT,
            "404 Not Found, NoSuchBucket: the words of NoSuchBucket",
        ),
        (Fault::s3(400, "InvalidRequest"), Code::ES3, "400 Bad Request, InvalidRequest"),
        (Fault::s3(503, "SlowDown"), Code::ES3, "FERROCDF_REMOTE_REQUESTS"),
    ] {
        server.fail_always(fault);
        let check = |error: ferrocdf_bytes::Error, method: &str| {
            assert_eq!(error.code, code, "{error}");
            assert!(error.what.contains(words), "{error}");
            let url = server.url("/bucket");
            assert!(error.what.contains(&format!(": {method} {url}")), "{error}");
            assert!(!error.what.contains("hush"), "{error}");
        };
        let error = store.get("a", ByteRange::All).unwrap_err();
        assert!(error.what.starts_with("s3://bucket/a: "), "{error}");
        check(error, "GET");
        check(store.put("a", b"x").unwrap_err(), "PUT");
        check(store.put_if("a", b"x", Expected::Absent).unwrap_err(), "PUT");
        check(store.delete("a").unwrap_err(), "DELETE");
        check(store.list("a").unwrap_err(), "GET");
    }
}

#[test]
fn bucket_moves_to_the_region_that_the_server_names() {
    let server = Server::start();
    server.put("/bucket/a", b"x");
    server.behave(|behaviour| behaviour.region = Some("eu-south-2".to_string()));
    let store = s3(&server);
    for requests in [2, 1] {
        assert_eq!(store.get("a", ByteRange::All).unwrap().unwrap().bytes, b"x");
        assert_eq!(server.take_seen().len(), requests);
    }
    let fresh = s3(&server);
    fresh.put("b", b"y").unwrap();
    assert_eq!(server.take_seen().len(), 2);
    assert_eq!(fresh.list("").unwrap().objects, ["a", "b"]);
}

#[test]
fn large_object_is_put_in_parts() {
    let server = Server::start();
    let set = Settings { multipart_threshold: Some(20 << 20), ..s3_settings(&server) };
    let store = open("s3://bucket/a", &set).unwrap().0;
    let content: Vec<u8> = (0..37 << 20).map(|at: u32| (at >> 12) as u8).collect();
    let version = store.put("a", &content).unwrap();
    let seen = server.take_seen();
    let count = |method| seen.iter().filter(|seen| seen.method == method).count();
    assert_eq!((count("POST"), count("PUT")), (2, 3), "begin, three parts, end");
    assert!(server.state().objects["/bucket/a"].bytes == content);
    assert_eq!(store.get("a", ByteRange::Suffix(1)).unwrap().unwrap().version, version);

    let blob = MemoryBlob::default();
    blob.write_at(0, &content[1..]).unwrap();
    store.put_blob("b", &blob).unwrap();
    assert!(server.state().objects["/bucket/b"].bytes == content[1..]);
    server.take_seen();

    // A part that never arrives: the upload is taken back, and the object stays.
    server.fail_from(2, [Fault::s3(403, "AccessDenied")]);
    let error = store.put_blob("b", &MemoryBlob::new(content)).unwrap_err();
    assert!(error.what.starts_with("s3://bucket/b: PUT ") && error.what.contains("AccessDenied"), "{error}");
    assert_eq!(server.take_seen().last().unwrap().method, "DELETE");
    assert!(server.state().uploads.is_empty());
    assert_eq!(server.state().objects["/bucket/b"].bytes.len(), (37 << 20) - 1);
}

#[test]
fn small_blob_is_put_at_once() {
    let server = Server::start();
    let store = s3(&server);
    store.put_blob("a", &MemoryBlob::new(b"0123".to_vec())).unwrap();
    assert_eq!(server.take_ranges(), ["PUT"]);
    let read = ObjectBlob::new(store, "a");
    assert_eq!(read.size().unwrap(), 4);
}

#[test]
fn host_names_the_bucket_where_that_is_wanted() {
    let server = Server::start();
    server.put("/a", b"x");
    // The proxy takes the place of a name server.
    let virtual_host = Settings {
        endpoint_url: Some("http://s3.invalid:81".to_string()),
        addressing: Some(Addressing::VirtualHost),
        proxy: Some(Secret::new(server.url(""))),
        ..s3_settings(&server)
    };
    let (store, key) = open("s3://bucket/a", &virtual_host).unwrap();
    assert_eq!(store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"x");
    let seen = server.take_seen();
    assert_eq!(seen[0].target, "bucket.s3.invalid:81");
    assert_eq!((&*seen[1].target, seen[1].header("host")), ("/a", Some("bucket.s3.invalid:81")));
}

#[test]
fn http_url_is_read_as_s3_where_the_settings_say_so() {
    let server = Server::start();
    server.put("/bucket/a/b", b"x");
    let set = Settings { protocol: Some(Protocol::S3), endpoint_url: None, ..s3_settings(&server) };
    let (store, key) = open(&server.url("/bucket/a/b"), &set).unwrap();
    assert_eq!((store.name().as_str(), key.as_str()), ("s3://bucket", "a/b"));
    assert_eq!(store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"x");
    assert!(server.take_seen()[0].header("authorization").is_some());
}

const TOKENS: &str =
    r#"{"AccessKeyId":"META","SecretAccessKey":"hush","Token":"t","Expiration":"2099-01-01T00:00:00Z"}"#;

#[test]
fn metadata_service_gives_credentials() {
    let server = Server::start();
    server.put("/a", b"x");
    let metadata = Server::start();
    {
        let mut state = metadata.state();
        let folder = "/latest/meta-data/iam/security-credentials";
        state.fixed.insert("/latest/api/token".to_string(), "tok".to_string());
        state.fixed.insert(format!("{folder}/"), "role".to_string());
        state.fixed.insert(format!("{folder}/role"), TOKENS.to_string());
    }
    let endpoint = metadata.url("");
    let variables = [
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*endpoint),
        ("NO_PROXY", "127.0.0.1"),
        ("AWS_ENDPOINT_URL", "http://s3.us-east-1.amazonaws.com"),
    ];
    let set = |proxy| Settings { proxy: Some(Secret::new(proxy)), ..settings(&variables) };
    let (store, key) = open("s3://bucket/a", &set(server.url(""))).unwrap();
    assert!(metadata.take_seen().is_empty(), "nothing is asked before the first read");
    for _ in 0..2 {
        assert_eq!(store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"x");
    }
    assert_eq!(metadata.take_seen().len(), 3, "credentials are kept");
    let seen = server.take_seen();
    assert!(seen[1].header("authorization").unwrap().contains("Credential=META/"), "{seen:?}");
    // Without a role the machine has no credentials, and the request is not signed.
    metadata.fail_always(Fault::status(404));
    let (store, key) = open("s3://bucket/a", &set(server.url(""))).unwrap();
    assert_eq!(store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"x");
    assert_eq!(server.take_seen()[1].header("authorization"), None);
    server.fail_always(Fault::s3(403, "AccessDenied"));
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert!(error.what.contains("the metadata service of the cloud"), "{error}");
}

#[test]
fn web_identity_gives_credentials() {
    let server = Server::start();
    server.put("/bucket/a", b"x");
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "jwt").unwrap();
    let sts = server.url("/sts");
    let path = token.path().display().to_string();
    let reply = "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><SessionToken>st</SessionToken>\
        <SecretAccessKey>hush</SecretAccessKey><Expiration>2099-01-01T00:00:00Z</Expiration><AccessKeyId>WEB</AccessKeyId></Credentials>\
        </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
    server.state().fixed.insert("/sts".to_string(), reply.to_string());
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", &*path),
        ("AWS_ROLE_ARN", "arn:aws:x"),
        ("AWS_ENDPOINT_URL_STS", &*sts),
    ];
    let set = Settings { endpoint_url: Some(server.url("")), ..settings(&variables) };
    let (store, key) = open("s3://bucket/a", &set).unwrap();
    assert_eq!(store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"x");
    let seen = server.take_seen();
    assert_eq!(seen[0].method, "POST");
    assert!(seen[1].header("authorization").unwrap().contains("Credential=WEB/"));
    assert_eq!(seen[1].header("x-amz-security-token"), Some("st"));
    // Credentials that are refused are an error that names the refusal.
    let (store, key) = open("s3://bucket/a", &set).unwrap();
    server.fail([Fault::s3(403, "InvalidIdentityToken")]);
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert!(error.what.contains("InvalidIdentityToken") && error.what.contains("/sts"), "{error}");
}

#[test]
fn profile_that_cannot_be_used_is_told_when_the_url_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, "[profile r]\nrole_arn = arn\nsource_profile = p\n").unwrap();
    let set = |profile: &str| Settings {
        profile: Some(profile.to_string()),
        aws_config_file: Some(file.clone()),
        ..settings(&[])
    };
    for (profile, words) in
        [("r", "the AWS profile \"p\" is in no file"), ("absent", "the AWS profile \"absent\" is in no file")]
    {
        let error = open("s3://bucket/a", &set(profile)).unwrap_err();
        assert_eq!(error.code, Code::EAUTH);
        assert!(error.what.starts_with("s3://bucket: ") && error.what.contains(words), "{error}");
    }
}
