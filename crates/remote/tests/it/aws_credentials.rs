//! Credentials that profiles of AWS lead to: roles, sign-ons, programs.

use std::fs;
use std::path::Path;

use ferrocdf_bytes::Code;
use ferrocdf_remote::{Environment, Settings, open};
use ferrocdf_store::{ByteRange, Store};

use crate::server::{Fault, Seen, Server};
use crate::settings;

/// Returns the settings for a profile in a home folder. All services of AWS are at the server.
fn with_profile(server: &Server, home: &Path, config: &str, profile: &str) -> Settings {
    fs::create_dir_all(home.join(".aws/sso/cache")).unwrap();
    fs::write(home.join(".aws/config"), config).unwrap();
    let (url, home) = (server.url(""), home.display().to_string());
    let variables = [("AWS_ENDPOINT_URL", &*url), ("HOME", &*home), ("AWS_PROFILE", profile)];
    Settings { environment: Environment::of(variables), ..settings(&[]) }
}

/// Reads the object `bucket/a` of a server twice; the requests.
fn read_twice(server: &Server, settings: &Settings) -> Vec<Seen> {
    server.put("/bucket/a", b"0123");
    let (store, key) = open("s3://bucket/a", settings).unwrap();
    for _ in 0..2 {
        assert_eq!(&*store.get(&key, ByteRange::All).unwrap().unwrap().bytes, b"0123");
    }
    server.take_seen()
}

/// Returns the access key that signed a request.
fn signer(seen: &Seen) -> &str {
    let text = seen.header("authorization").expect("a signed request");
    text.split_once("Credential=").unwrap().1.split_once('/').unwrap().0
}

fn assume_role_answer(key: &str, end: &str) -> String {
    format!(
        "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>s+/=</SecretAccessKey>\
         <SessionToken>token+/=</SessionToken><Expiration>{end}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
    )
}

const ROLE: &str = "\
[profile work]
role_arn = arn:aws:iam::1:role/reader
source_profile = base
external_id = a b&c
[profile base]
aws_access_key_id = BASE
aws_secret_access_key = s
";

#[test]
fn role_is_assumed_with_the_keys_of_another_profile_until_it_ends() {
    let home = tempfile::tempdir().unwrap();
    for (end, requests) in [("2999-01-01T00:00:00Z", 3), ("2001-01-01T00:00:00.5+01:00", 4)] {
        let server = Server::start();
        server.state().fixed.insert("/".to_string(), assume_role_answer("ROLE", end));
        let seen = read_twice(&server, &with_profile(&server, home.path(), ROLE, "work"));
        assert_eq!(seen.len(), requests, "{seen:#?}");
        assert_eq!((&*seen[0].method, &*seen[0].target, signer(&seen[0])), ("POST", "/", "BASE"));
        assert_eq!(seen[0].header("content-type"), Some("application/x-www-form-urlencoded"));
        assert_eq!(signer(&seen[1]), "ROLE");
        assert_eq!(seen[1].header("x-amz-security-token"), Some("token+/="));
    }
}

#[test]
fn refused_role_is_an_error_that_names_the_service() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start();
    server.fail_always(Fault::s3(403, "AccessDenied"));
    let settings = with_profile(&server, home.path(), ROLE, "work");
    let (store, key) = open("s3://bucket/a", &settings).unwrap();
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert_eq!(error.code, Code::EACCESS);
    assert!(error.what.contains("POST") && error.what.contains("AccessDenied"), "{error}");
    let server = Server::start();
    server.state().fixed.insert("/".to_string(), assume_role_answer("a b", "2999-01-01T00:00:00Z"));
    let settings = with_profile(&server, home.path(), ROLE, "work");
    let (store, key) = open("s3://bucket/a", &settings).unwrap();
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert!(
        error.what.contains("arn:aws:iam::1:role/reader: the answer has keys with characters"),
        "{error}"
    );
}

const SIGN_ON: &str = "\
[profile work]
sso_session = ours
sso_account_id = 123
sso_role_name = a/reader
[sso-session ours]
sso_start_url = https://ours.example.org/start
sso_region = eu-west-1
";

#[test]
fn token_of_a_sign_on_is_exchanged_for_keys() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start();
    let answer = r#"{"roleCredentials": {"accessKeyId": "SSO", "secretAccessKey": "s", "sessionToken": "t", "expiration": 32472144000000}}"#;
    server.state().fixed.insert("/federation/credentials".to_string(), answer.to_string());
    let settings = with_profile(&server, home.path(), SIGN_ON, "work");
    let (store, key) = open("s3://bucket/a", &settings).unwrap();
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert!(error.what.contains("run `aws sso login --profile work`"), "{error}");
    assert_eq!(server.take_seen().len(), 0);
    for (name, url, token, end) in [
        ("a", "https://ours.example.org/start/", "old", "2001-01-01T00:00:00Z"),
        ("b", "https://ours.example.org/start/", "first", "2998-01-01T00:00:00Z"),
        ("c", "https://ours.example.org/start/", "hush", "2999-01-01T00:00:00Z"),
        ("d", "https://theirs.example.org/start", "theirs", "3000-01-01T00:00:00Z"),
    ] {
        let text = format!(r#"{{"startUrl": "{url}", "accessToken": "{token}", "expiresAt": "{end}"}}"#);
        fs::write(home.path().join(".aws/sso/cache").join(name).with_extension("json"), text).unwrap();
    }
    let seen = read_twice(&server, &settings);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0].target, "/federation/credentials?role_name=a%2Freader&account_id=123");
    assert_eq!(seen[0].header("x-amz-sso_bearer_token"), Some("hush"));
    assert_eq!(signer(&seen[2]), "SSO");
}

#[test]
#[cfg(unix)]
fn keys_of_a_program_are_taken_once() {
    let home = tempfile::tempdir().unwrap();
    let config = |command: &str| format!("[profile work]\ncredential_process = {command}\n");
    let calls = home.path().join("calls");
    let keys = r#"{"Version": 1, "AccessKeyId": "PROGRAM", "SecretAccessKey": "s", "SessionToken": "t"}"#;
    let server = Server::start();
    let command = format!("echo call >> '{}'; echo '{keys}'", calls.display());
    let seen = read_twice(&server, &with_profile(&server, home.path(), &config(&command), "work"));
    assert!(seen.len() == 2 && seen.iter().all(|seen| signer(seen) == "PROGRAM"));
    assert_eq!(fs::read_to_string(&calls).unwrap().lines().count(), 1);
    for (command, words) in [
        ("exit 3", "the program failed: exit status: 3"),
        ("echo hush", "the output is not JSON"),
        (r#"echo '{"Version": 2, "AccessKeyId": "hush"}'"#, "its Version is not 1"),
        (r#"echo '{"Version": 1, "AccessKeyId": "hush"}'"#, "no access key with a secret key"),
    ] {
        let settings = with_profile(&server, home.path(), &config(command), "work");
        let (store, key) = open("s3://bucket/a", &settings).unwrap();
        let error = store.get(&key, ByteRange::All).unwrap_err();
        assert!(error.what.contains(words) && !error.what.contains("hush"), "{error}");
    }
}
