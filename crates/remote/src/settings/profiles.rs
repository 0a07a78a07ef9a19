//! Profiles of AWS: the files `config` and `credentials`.
//!
//! The syntax is that of the AWS SDKs and Tools reference guide, "Shared config and credentials files". Lines that start with `#`
//! or `;` are comments, and so is the rest of a line behind white space and one of these signs; elsewhere in a value they belong to it, since
//! keys may contain them. Indented lines belong to the key above them (`s3 =`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ferrocdf_bytes::{Code, Error, Result};

use super::Settings;

/// The keys of one profile, in lower case. Keys below another one are `s3.addressing_style`.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Name of the profile.
    pub name: String,
    keys: BTreeMap<String, String>,
}

impl Profile {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Profile {
    /// Shows no values, since some are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple(&self.name).field(&self.keys.keys().collect::<Vec<_>>()).finish()
    }
}

/// The profiles of both files.
#[derive(Debug)]
pub(crate) struct Profiles {
    config: ProfileFile,
    credentials: ProfileFile,
}

/// A file of profiles, and its sections. There are none if there is no file.
struct ProfileFile {
    path: Option<PathBuf>,
    sections: Sections,
}

impl std::fmt::Debug for ProfileFile {
    /// Shows no values, since some are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ProfileFile").field(&self.path).finish()
    }
}

impl ProfileFile {
    fn read(path: Option<PathBuf>) -> Result<ProfileFile> {
        let sections = path.as_deref().map(read_sections).transpose()?.flatten().unwrap_or_default();
        Ok(ProfileFile { path, sections })
    }
}

impl Profiles {
    /// Reads both files.
    ///
    /// # Errors
    /// Those of the system, but for a file that is not there.
    pub(crate) fn read(settings: &Settings) -> Result<Profiles> {
        let environment = &settings.environment;
        let file = |set: &Option<PathBuf>, variable, default| {
            let named = set.clone().or_else(|| environment.get(variable).map(PathBuf::from));
            ProfileFile::read(named.or_else(|| environment.in_home(default)))
        };
        Ok(Profiles {
            config: file(&settings.aws_config_file, "AWS_CONFIG_FILE", ".aws/config")?,
            credentials: file(
                &settings.aws_credentials_file,
                "AWS_SHARED_CREDENTIALS_FILE",
                ".aws/credentials",
            )?,
        })
    }

    /// Returns the profile that the settings ask for. Without a wish it is `default`, with no keys if no file has it.
    ///
    /// # Errors
    /// `NC_EAUTH` if a profile was asked for by name and no file has it.
    pub(crate) fn chosen(&self, settings: &Settings) -> Result<Profile> {
        match settings.profile.clone().or_else(|| settings.environment.get("AWS_PROFILE")) {
            Some(name) => self.get(&name),
            None => Ok(self.find("default").unwrap_or_default()),
        }
    }

    /// Returns the profile of this name.
    ///
    /// # Errors
    /// `NC_EAUTH` if no file has it.
    pub(crate) fn get(&self, name: &str) -> Result<Profile> {
        self.find(name).ok_or_else(|| {
            let files = [&self.config, &self.credentials];
            let paths: Vec<_> =
                files.iter().flat_map(|file| &file.path).map(|path| path.display().to_string()).collect();
            let what = format!("the AWS profile {name:?} is in no file; looked in: {}", paths.join(", "));
            Error::new(Code::EAUTH, what)
        })
    }

    /// Returns a key of a section of the file `config`, such as `sso-session NAME`.
    pub(crate) fn in_section(&self, section: &str, key: &str) -> Option<&str> {
        let found = self.config.sections.iter().find(|(title, _)| title == section);
        found.and_then(|(_, keys)| keys.get(key)).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Finds a profile in both files. Keys of the credentials file win, as the guide has it.
    fn find(&self, name: &str) -> Option<Profile> {
        let mut profile = Profile { name: name.to_string(), keys: BTreeMap::new() };
        let mut is_found = false;
        for (file, is_config) in [(&self.config, true), (&self.credentials, false)] {
            for (section, keys) in &file.sections {
                if section_profile(section, is_config) == Some(name) {
                    is_found = true;
                    profile.keys.extend(keys.clone());
                }
            }
        }
        // An endpoint may be in a section of its own, which the profile names.
        let services = profile.get("services").map(|services| format!("services {services}"));
        if let Some(url) = services.and_then(|title| self.in_section(&title, "s3.endpoint_url")) {
            profile.keys.entry("s3.endpoint_url".to_string()).or_insert_with(|| url.to_string());
        }
        is_found.then_some(profile)
    }
}

/// Returns the profile that a section is of; `None` for other sections.
fn section_profile(section: &str, is_config: bool) -> Option<&str> {
    match section.strip_prefix("profile").filter(|rest| rest.starts_with([' ', '\t'])) {
        Some(name) if is_config => Some(name.trim().trim_matches(['"', '\''])),
        Some(_) => None,
        None if section == "default" || !is_config => Some(section),
        None => None,
    }
}

type Sections = Vec<(String, BTreeMap<String, String>)>;

/// Reads the sections of a file in their order; `None` if there is no file.
fn read_sections(path: &Path) -> Result<Option<Sections>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::system(error, path.display())),
    };
    Ok(Some(parse_sections(&String::from_utf8_lossy(&bytes))))
}

/// Parses the text of a file. Lines that are no syntax are skipped, as the tools of AWS do.
fn parse_sections(text: &str) -> Sections {
    let mut sections = Sections::new();
    let mut parent = String::new();
    for line in text.lines() {
        let is_nested = line.starts_with([' ', '\t']);
        let line = without_comment(line).trim();
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            sections.push((title.0.trim().to_string(), BTreeMap::new()));
            parent.clear();
            continue;
        }
        let (Some((key, value)), Some((_, keys))) = (line.split_once('='), sections.last_mut()) else {
            continue;
        };
        let key = key.trim().to_ascii_lowercase();
        if is_nested && !parent.is_empty() {
            keys.insert(format!("{parent}.{key}"), value.trim().to_string());
        } else {
            keys.insert(key.clone(), value.trim().to_string());
            parent = key;
        }
    }
    sections
}

/// Cuts a comment off a line.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, sign) in line.char_indices() {
        if matches!(sign, '#' | ';') && matches!(before, ' ' | '\t') {
            return &line[..at];
        }
        before = sign;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    const CONFIG: &str = "\
# a comment
[default]
region = eu-west-1   # behind white space
[profile with#sign]
aws_secret_access_key = ab#cd;ef ; gone
[profile \"two words\"]
region=us-west-2
s3 =
  addressing_style = path
  endpoint_url = http://localhost:9000
output = json
[profile shared]
services = local
[services local]
s3 =
  endpoint_url = http://localhost:9001
[shadow]
region = nowhere
";

    fn read(profile: Option<&str>, config: &str, credentials: &str) -> Result<Profile> {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["config", "credentials"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], config).unwrap();
        std::fs::write(&paths[1], credentials).unwrap();
        let shown = paths.each_ref().map(|path| path.display().to_string());
        let mut variables =
            vec![("AWS_CONFIG_FILE", &*shown[0]), ("AWS_SHARED_CREDENTIALS_FILE", &*shown[1])];
        variables.extend(profile.map(|profile| ("AWS_PROFILE", profile)));
        let settings = Settings { environment: Environment::of(variables), ..Settings::default() };
        Profiles::read(&settings)?.chosen(&settings)
    }

    #[test]
    fn comments_end_values_only_behind_white_space() {
        let read = |profile| read(profile, CONFIG, "").unwrap();
        assert_eq!(read(None).get("region"), Some("eu-west-1"));
        assert_eq!(read(Some("with#sign")).get("aws_secret_access_key"), Some("ab#cd;ef"));
    }

    #[test]
    fn indented_keys_belong_to_the_key_above() {
        let profile = read(Some("two words"), CONFIG, "").unwrap();
        assert_eq!(profile.get("s3.addressing_style"), Some("path"));
        assert_eq!(profile.get("s3.endpoint_url"), Some("http://localhost:9000"));
        assert_eq!((profile.get("region"), profile.get("output")), (Some("us-west-2"), Some("json")));
        assert_eq!(profile.get("addressing_style"), None);
        let shared = read(Some("shared"), CONFIG, "").unwrap();
        assert_eq!(shared.get("s3.endpoint_url"), Some("http://localhost:9001"));
    }

    #[test]
    fn credentials_file_has_names_without_a_prefix_and_wins() {
        let credentials = "[default]\naws_access_key_id = A\n[two words]\nREGION = mine\n";
        assert_eq!(read(None, CONFIG, credentials).unwrap().get("aws_access_key_id"), Some("A"));
        assert_eq!(read(Some("two words"), CONFIG, credentials).unwrap().get("region"), Some("mine"));
        let error = read(Some("shadow"), CONFIG, credentials).unwrap_err();
        assert_eq!(error.code, Code::EAUTH);
        assert!(error.what.starts_with("the AWS profile \"shadow\" is in no file; looked in: "), "{error}");
    }

    #[test]
    fn debug_text_shows_keys_alone() {
        let profile = read(Some("with#sign"), CONFIG, "").unwrap();
        assert_eq!(format!("{profile:?}"), "with#sign([\"aws_secret_access_key\"])");
    }
}
