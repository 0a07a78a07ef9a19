//! Credentials of AWS, in the order in which they are looked for:
//!
//! 1. keys in the settings;
//! 2. a profile that the settings name;
//! 3. `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`;
//! 4. a web identity: `AWS_WEB_IDENTITY_TOKEN_FILE` with `AWS_ROLE_ARN`;
//! 5. the profile of `AWS_PROFILE`, or `default`;
//! 6. a container: `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, or `…_FULL_URI` with `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`;
//! 7. the metadata service of the machine, unless `AWS_EC2_METADATA_DISABLED` is set or the endpoint is not of AWS.
//!
//! A profile gives, in this order: a role with a web identity; a role with the credentials of another profile or place; a sign-on
//! (SSO); its keys; a program that prints keys.

use ferrocdf_bytes::{Code, Error, Result};

use super::Source;
use super::role::Role;
use super::sign_on::SignOn;
use super::temporary_keys::is_header_text;
use crate::settings::{Environment, Profile, Profiles, Secret, Settings, parse_flag};

/// Credentials, or how to get them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Credentials {
    None,
    Keys { id: String, secret: Secret, token: Option<Secret> },
    WebIdentity { token_file: String, role: String, session: Option<String> },
    Container { uri: String },
    Pod { uri: String, token_file: String },
    Metadata,
    Role { role: Role, base: Box<Credentials> },
    SignOn(SignOn),
    Process { command: Secret },
}

/// Where credentials are looked for, in words.
const SEARCHED: &str = "looked for AWS_ACCESS_KEY_ID, profiles, web identity and container credentials";

/// Finds credentials. `is_aws` says if the endpoint is one of AWS.
///
/// # Errors
/// `NC_EAUTH` for credentials that are there in part, and for profiles that name others which are not there.
pub(super) fn find(
    settings: &Settings,
    profiles: &Profiles,
    profile: &Profile,
    is_aws: bool,
) -> Result<(Credentials, Source)> {
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
    let in_profile = || of_profile(profiles, profile, environment, &mut Vec::new());
    let source = format!("profile {}", profile.name);
    if settings.profile.is_some()
        && let Some(credentials) = in_profile()?
    {
        return named(credentials, &source);
    }
    let variable = |name: &str| environment.get(name);
    if let Some(keys) = of_environment(environment)? {
        return named(keys, "AWS_ACCESS_KEY_ID");
    }
    if let (Some(token_file), Some(role)) =
        (variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"))
    {
        let session = variable("AWS_ROLE_SESSION_NAME");
        return named(Credentials::WebIdentity { token_file, role, session }, "AWS_WEB_IDENTITY_TOKEN_FILE");
    }
    if let Some(credentials) = in_profile()? {
        return named(credentials, &source);
    }
    if let Some((credentials, source)) = of_container(environment) {
        return named(credentials, source);
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
        (Some(id), _) if !is_header_text(&id) => {
            Err(auth(format!("{place}: an access key of AWS has characters that no key has")))
        }
        (Some(_), Some(_)) if token.as_ref().is_some_and(|token| !is_header_text(token.expose())) => {
            Err(auth(format!("{place}: a session token of AWS has characters that no token has")))
        }
        (Some(id), Some(secret)) => Ok(Some(Credentials::Keys { id, secret, token })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(auth(format!("{place}: an access key of AWS without its secret key"))),
        (None, Some(_)) => Err(auth(format!("{place}: a secret key of AWS without its access key"))),
    }
}

/// Returns the keys in the environment.
fn of_environment(environment: &Environment) -> Result<Option<Credentials>> {
    let secret = |name: &str| environment.get(name).map(Secret::new);
    let id = environment.get("AWS_ACCESS_KEY_ID");
    keys((id, secret("AWS_SECRET_ACCESS_KEY"), secret("AWS_SESSION_TOKEN")), "the environment")
}

/// Returns the credentials of the container that the process runs in, and the variable that tells where they are.
fn of_container(environment: &Environment) -> Option<(Credentials, &'static str)> {
    const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
    const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    if let Some(uri) = environment.get(RELATIVE) {
        return Some((Credentials::Container { uri }, RELATIVE));
    }
    let token_file = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")?;
    Some((Credentials::Pod { uri: environment.get(FULL)?, token_file }, FULL))
}

/// Returns the credentials of a profile; `None` if it has none. `on_the_way` are the names of the profiles that led to this one.
fn of_profile(
    profiles: &Profiles,
    profile: &Profile,
    environment: &Environment,
    on_the_way: &mut Vec<String>,
) -> Result<Option<Credentials>> {
    let place = format!("the AWS profile {:?}", profile.name);
    let text = |key: &str| profile.get(key).map(str::to_string);
    let secret = |key: &str| profile.get(key).map(Secret::new);
    let own_keys = || {
        keys(
            (text("aws_access_key_id"), secret("aws_secret_access_key"), secret("aws_session_token")),
            &place,
        )
    };
    if let Some(arn) = text("role_arn") {
        if let Some(token_file) = text("web_identity_token_file") {
            let session = text("role_session_name");
            return Ok(Some(Credentials::WebIdentity { token_file, role: arn, session }));
        }
        if profile.get("mfa_serial").is_some() {
            return Err(auth(format!(
                "{place} asks for a second factor (mfa_serial), which a library cannot ask for; run `aws configure \
                 export-credentials --profile {} --format env` and set the variables that it prints",
                profile.name
            )));
        }
        let base = match (text("source_profile"), text("credential_source")) {
            (Some(name), None) if name == profile.name => own_keys()?,
            (Some(name), None) => {
                on_the_way.push(profile.name.clone());
                if on_the_way.contains(&name) {
                    return Err(auth(format!("{place}: its source_profile {name:?} leads back to itself")));
                }
                of_profile(profiles, &profiles.get(&name)?, environment, on_the_way)?
            }
            (None, Some(source)) => match &*source {
                "Environment" => of_environment(environment)?,
                "Ec2InstanceMetadata" => Some(Credentials::Metadata),
                "EcsContainer" => of_container(environment).map(|(credentials, _)| credentials),
                _ => return Err(auth(format!("{place}: the credential_source {source:?} is not known"))),
            },
            _ => {
                let what = "a role (role_arn) needs either source_profile or credential_source";
                return Err(auth(format!("{place}: {what}")));
            }
        };
        let base = base.ok_or_else(|| auth(format!("{place}: the source of its role has no credentials")))?;
        let duration = text("duration_seconds").map(|text| {
            text.parse().map_err(|_| auth(format!("{place}: duration_seconds is not a number of seconds")))
        });
        let (session, external_id) = (text("role_session_name"), text("external_id"));
        let role = Role { arn, session, external_id, duration: duration.transpose()? };
        return Ok(Some(Credentials::Role { role, base: Box::new(base) }));
    }
    if let Some(sign_on) = sign_on(profiles, profile)? {
        return Ok(Some(Credentials::SignOn(sign_on)));
    }
    let process = || secret("credential_process").map(|command| Credentials::Process { command });
    Ok(own_keys()?.or_else(process))
}

/// Returns the sign-on that a profile asks for. Its URL and region are in the profile, or in a section that it names.
fn sign_on(profiles: &Profiles, profile: &Profile) -> Result<Option<SignOn>> {
    let section = profile.get("sso_session").map(|name| format!("sso-session {name}"));
    if section.is_none() && profile.get("sso_start_url").is_none() {
        return Ok(None);
    }
    let get = |key: &str| {
        let shared = || profiles.in_section(section.as_deref()?, key);
        let found = shared().or_else(|| profile.get(key)).map(str::to_string);
        found.ok_or_else(|| auth(format!("the AWS profile {:?} signs on (SSO) without {key}", profile.name)))
    };
    Ok(Some(SignOn {
        profile: profile.name.clone(),
        start_url: get("sso_start_url")?,
        region: get("sso_region")?,
        account: get("sso_account_id")?,
        role: get("sso_role_name")?,
    }))
}

fn auth(what: String) -> Error {
    Error::new(Code::EAUTH, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

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
        let profiles = Profiles::read(&settings)?;
        find(&settings, &profiles, &profiles.chosen(&settings)?, true)
    }

    fn id(found: Result<(Credentials, Source)>) -> String {
        match found.unwrap() {
            (Credentials::Keys { id, .. }, _) => id,
            other => panic!("{other:?}"),
        }
    }

    const FILES: &str = "\
[default]
aws_access_key_id=D
aws_secret_access_key=s
[p]
aws_access_key_id=P
aws_secret_access_key=s
[r]
role_arn=arn
source_profile=p
[twice]
role_arn=second
source_profile=r
duration_seconds=900
[own]
role_arn=arn
source_profile=own
aws_access_key_id=O
aws_secret_access_key=s
[machine]
role_arn=arn
credential_source=Ec2InstanceMetadata
[sso]
sso_start_url=https://start
sso_region=r
sso_account_id=1
sso_role_name=reader
[half sso]
sso_start_url=https://start
[program]
credential_process=print-keys
[circle]
role_arn=arn
source_profile=circle 2
[circle 2]
role_arn=arn
source_profile=circle
[nowhere]
role_arn=arn
source_profile=missing
[no base]
role_arn=arn
[factor]
role_arn=arn
source_profile=p
mfa_serial=m
[half]
aws_access_key_id=H
[broken]
aws_access_key_id=a b
aws_secret_access_key=s
[none]
region=r
";
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
    fn profiles_lead_to_roles_sign_ons_and_programs() {
        let found = |profile| find_in(&[("AWS_PROFILE", profile)], FILES, |_| ()).unwrap().0;
        let Credentials::Role { role, base } = found("twice") else { panic!("no role") };
        assert_eq!((&*role.arn, role.duration), ("second", Some(900)));
        let Credentials::Role { role, base } = *base else { panic!("no role") };
        assert_eq!(&*role.arn, "arn");
        assert!(matches!(*base, Credentials::Keys { id, .. } if id == "P"));
        let Credentials::Role { base, .. } = found("own") else { panic!("no role") };
        assert!(matches!(*base, Credentials::Keys { id, .. } if id == "O"));
        let Credentials::Role { base, .. } = found("machine") else { panic!("no role") };
        assert_eq!(*base, Credentials::Metadata);
        assert!(matches!(found("sso"), Credentials::SignOn(sign_on) if sign_on.account == "1"));
        assert!(matches!(found("program"), Credentials::Process { .. }));
    }

    #[test]
    fn incomplete_credentials_are_explained() {
        for (profile, words) in [
            ("circle", "leads back to itself"),
            ("nowhere", "the AWS profile \"missing\" is in no file"),
            ("no base", "needs either source_profile or credential_source"),
            ("factor", "second factor"),
            ("half sso", "without sso_region"),
            ("half", "an access key of AWS without its secret key"),
            ("broken", "characters that no key has"),
        ] {
            let error = find_in(&[("AWS_PROFILE", profile)], FILES, |_| ()).unwrap_err();
            assert_eq!(error.code, Code::EAUTH);
            assert!(error.what.contains(words), "{error}");
        }
        assert!(find_in(&KEYS[1..2], "", |_| ()).is_err());
        let token = [KEYS[0], KEYS[1], ("AWS_SESSION_TOKEN", "a\nb")];
        assert!(find_in(&token, "", |_| ()).unwrap_err().what.contains("session token"));
    }
}
