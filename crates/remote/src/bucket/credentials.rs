//! Credentials of AWS, in the order in which they are looked for:
//!
//! 1. keys in the settings;
//! 2. a profile that the settings name;
//! 3. `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`;
//! 4. a web identity: `AWS_WEB_IDENTITY_TOKEN_FILE` with `AWS_ROLE_ARN`;
//! 5. the profile of `AWS_PROFILE`, or `default`;
//! 6. a container: `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, or `…_FULL_URI` with `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`;
//! 7. the metadata service of the machine, unless `AWS_EC2_METADATA_DISABLED` is set or the endpoint is not of AWS.

use ferrocdf_bytes::{Code, Error, Result};

use super::Source;
use crate::settings::{Profile, Secret, Settings, parse_flag};

/// Credentials, or how to get them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Credentials {
    None,
    Keys { id: String, secret: Secret, token: Option<Secret> },
    WebIdentity { token_file: String, role: String, session: Option<String> },
    Container { uri: String },
    Pod { uri: String, token_file: String },
    Metadata,
}

/// Where credentials are looked for, in words.
const SEARCHED: &str = "looked for AWS_ACCESS_KEY_ID, profiles, web identity and container credentials";

/// Finds credentials. `is_aws` says if the endpoint is one of AWS.
///
/// # Errors
/// `NC_EAUTH` for credentials that are there in part, or of a kind that is not supported.
pub(super) fn find(settings: &Settings, profile: &Profile, is_aws: bool) -> Result<(Credentials, Source)> {
    let environment = &settings.environment;
    let is_disabled = ["AWS_NO_SIGN_REQUEST", "AWS_SKIP_SIGNATURE"]
        .iter()
        .any(|name| environment.get(name).is_some_and(|value| parse_flag(&value) == Some(true)));
    if settings.no_sign_request.unwrap_or(is_disabled) {
        return Ok((Credentials::None, Source::Disabled));
    }
    let named = |credentials, source: &str| Ok((credentials, Source::Named(source.to_string())));
    let set =
        (settings.access_key_id.clone(), settings.secret_access_key.clone(), settings.session_token.clone());
    if let Some(keys) = keys(set, "the settings")? {
        return named(keys, "settings");
    }
    if settings.profile.is_some()
        && let Some((credentials, source)) = of_profile(profile)?
    {
        return named(credentials, &source);
    }
    let variable = |name: &str| environment.get(name);
    let from_environment = (
        variable("AWS_ACCESS_KEY_ID"),
        variable("AWS_SECRET_ACCESS_KEY").map(Secret::new),
        variable("AWS_SESSION_TOKEN").map(Secret::new),
    );
    if let Some(keys) = keys(from_environment, "the environment")? {
        return named(keys, "AWS_ACCESS_KEY_ID");
    }
    if let (Some(token_file), Some(role)) =
        (variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"))
    {
        let session = variable("AWS_ROLE_SESSION_NAME");
        return named(Credentials::WebIdentity { token_file, role, session }, "AWS_WEB_IDENTITY_TOKEN_FILE");
    }
    if let Some((credentials, source)) = of_profile(profile)? {
        return named(credentials, &source);
    }
    if let Some(uri) = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
        return named(Credentials::Container { uri }, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    }
    if let (Some(uri), Some(token_file)) =
        (variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"), variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"))
    {
        return named(Credentials::Pod { uri, token_file }, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    }
    let is_disabled =
        variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| parse_flag(&value) == Some(true));
    match is_aws && !is_disabled {
        true => Ok((Credentials::Metadata, Source::Metadata(SEARCHED.to_string()))),
        false => Ok((Credentials::None, Source::NotFound(SEARCHED.to_string()))),
    }
}

type KeyTexts = (Option<String>, Option<Secret>, Option<Secret>);

/// Makes credentials of keys; one key without the other is an error.
fn keys((id, secret, token): KeyTexts, place: &str) -> Result<Option<Credentials>> {
    match (id, secret) {
        (Some(id), Some(secret)) => Ok(Some(Credentials::Keys { id, secret, token })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(auth(format!("{place}: an access key of AWS without its secret key"))),
        (None, Some(_)) => Err(auth(format!("{place}: a secret key of AWS without its access key"))),
    }
}

/// Returns the credentials of a profile, and their source; `None` if it has none.
fn of_profile(profile: &Profile) -> Result<Option<(Credentials, String)>> {
    let place = format!("the AWS profile {:?}", profile.name);
    let text = |key: &str| profile.get(key).map(str::to_string);
    let secret = |key: &str| profile.get(key).map(Secret::new);
    let source = format!("profile {}", profile.name);
    if let (Some(role), Some(token_file)) = (text("role_arn"), text("web_identity_token_file")) {
        let session = text("role_session_name");
        return Ok(Some((Credentials::WebIdentity { token_file, role, session }, source)));
    }
    let unsupported = [
        ("role_arn", "assumes a role (role_arn with source_profile or credential_source)"),
        ("sso_session", "signs in with SSO"),
        ("sso_start_url", "signs in with SSO"),
        ("credential_process", "runs a program for credentials"),
    ];
    if let Some((_, what)) = unsupported.iter().find(|(key, _)| profile.get(key).is_some()) {
        return Err(auth(format!(
            "{place} {what}, which is not supported; run `aws configure export-credentials --profile {} --format env` and set \
             the variables that it prints, or AWS_NO_SIGN_REQUEST=true for a public bucket",
            profile.name
        )));
    }
    let texts = (text("aws_access_key_id"), secret("aws_secret_access_key"), secret("aws_session_token"));
    Ok(keys(texts, &place)?.map(|keys| (keys, source)))
}

fn auth(what: String) -> Error {
    Error::new(Code::EAUTH, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use crate::settings::read_profile;

    fn find_in(
        variables: &[(&str, &str)],
        files: &str,
        set: impl FnOnce(&mut Settings),
    ) -> Result<(Credentials, Source)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        std::fs::write(&file, files).unwrap();
        let mut settings = Settings {
            environment: Environment::of(variables.iter().copied()),
            aws_credentials_file: Some(file),
            ..Settings::default()
        };
        set(&mut settings);
        find(&settings, &read_profile(&settings)?, true)
    }

    fn id(found: Result<(Credentials, Source)>) -> String {
        match found.unwrap() {
            (Credentials::Keys { id, .. }, _) => id,
            other => panic!("{other:?}"),
        }
    }

    const FILES: &str = "[default]\naws_access_key_id=D\naws_secret_access_key=s\n[p]\naws_access_key_id=P\naws_secret_access_key=s\n\
        [r]\nrole_arn=arn\nsource_profile=p\n[sso]\nsso_session=x\n[half]\naws_access_key_id=H\n[none]\nregion=r\n";
    const KEYS: [(&str, &str); 3] =
        [("AWS_ACCESS_KEY_ID", "E"), ("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_SESSION_TOKEN", "t")];

    #[test]
    fn earlier_places_win() {
        let set = |settings: &mut Settings| {
            settings.access_key_id = Some("S".to_string());
            settings.secret_access_key = Some(Secret::new("s"));
        };
        assert_eq!(id(find_in(&KEYS, FILES, set)), "S");
        assert_eq!(id(find_in(&KEYS, FILES, |settings| settings.profile = Some("p".to_string()))), "P");
        assert_eq!(id(find_in(&KEYS, FILES, |_| ())), "E");
        assert_eq!(id(find_in(&[("AWS_PROFILE", "p")], FILES, |_| ())), "P");
        assert_eq!(id(find_in(&[], FILES, |_| ())), "D");
        let (found, source) = find_in(&[], "", |_| ()).unwrap();
        assert_eq!((found, source), (Credentials::Metadata, Source::Metadata(SEARCHED.to_string())));
        let disabled = [("AWS_EC2_METADATA_DISABLED", "true")];
        assert_eq!(find_in(&disabled, "", |_| ()).unwrap().1, Source::NotFound(SEARCHED.to_string()));
        let identity = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"), ("AWS_ROLE_ARN", "arn")];
        assert!(matches!(find_in(&identity, FILES, |_| ()).unwrap().0, Credentials::WebIdentity { .. }));
        let container = [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x")];
        assert!(matches!(find_in(&container, "", |_| ()).unwrap().0, Credentials::Container { .. }));
    }

    #[test]
    fn session_token_comes_with_the_keys() {
        let (found, _) = find_in(&KEYS, FILES, |_| ()).unwrap();
        let token = Some(Secret::new("t"));
        assert_eq!(found, Credentials::Keys { id: "E".to_string(), secret: Secret::new("s"), token });
    }

    #[test]
    fn requests_are_unsigned_if_the_user_says_so() {
        let variables = [KEYS[0], KEYS[1], ("AWS_NO_SIGN_REQUEST", "YES")];
        assert_eq!(find_in(&variables, FILES, |_| ()).unwrap(), (Credentials::None, Source::Disabled));
        let set = |settings: &mut Settings| settings.no_sign_request = Some(false);
        assert_eq!(id(find_in(&variables, FILES, set)), "E");
    }

    #[test]
    fn unsupported_and_incomplete_credentials_are_explained() {
        for (profile, words) in [
            ("r", "assumes a role"),
            ("sso", "signs in with SSO"),
            ("half", "an access key of AWS without its secret key"),
        ] {
            let error = find_in(&[("AWS_PROFILE", profile)], FILES, |_| ()).unwrap_err();
            assert_eq!(error.code, Code::EAUTH);
            assert!(error.what.contains(words), "{error}");
        }
        assert!(find_in(&KEYS[1..2], "", |_| ()).is_err());
    }
}
