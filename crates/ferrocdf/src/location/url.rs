//! URLs: which texts are URLs, and the paths that those of files name (RFC 8089).
//!
//! netCDF-C 4.10.1 knows `file:` URLs and opens none but with `#mode=bytes`. The forms are those that it reads: `file:///path`,
//! `file:/path`, `file://localhost/path`, and `file://path` for a path relative to the folder of the process.

use std::fmt;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Container, DataModel, Format};

use crate::zarr_options::ZarrOptions;

const FILE: &[u8] = b"file:/";
const HOST: &[u8] = b"localhost/";

/// Words of `mode` in a fragment that ask for something else than a file or a folder.
const OTHER_MODES: [&[u8]; 4] = [b"dap2", b"dap4", b"gs3", b"s3"];

/// Words of `mode` in a fragment that ask for a Zarr store: those of netCDF-C, and those that tell the version.
const ZARR_MODES: [&str; 6] = ["nczarr", "noxarray", "v2", "v3", "xarray", "zarr"];

/// Word of `mode` for a zip file, which is a Zarr store too. For netCDF-C it means something only together with `nczarr` or `zarr`.
const ZIP: &str = "zip";

/// A URL as a user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: Vec<u8>,
}

impl Url {
    /// Returns the URL that a text is; `None` if it is a path. Settings in brackets may come before the scheme.
    pub(crate) fn parse(text: &[u8]) -> Option<Url> {
        let rest = without_brackets(text)?;
        let end = rest.windows(3).position(|part| part == b"://");
        let has_scheme = end.is_some_and(|end| rest[..end].iter().all(is_of_scheme));
        (has_scheme || starts_as_file(text)).then(|| Url { text: text.to_vec() })
    }

    /// True for `file:` URLs.
    pub fn is_file(&self) -> bool {
        starts_as_file(&self.text)
    }

    /// True if the fragment asks for a Zarr store.
    pub(crate) fn asks_for_zarr(&self) -> bool {
        self.says_kind_of_zarr() || self.asks_for_zip()
    }

    fn says_kind_of_zarr(&self) -> bool {
        ZARR_MODES.iter().any(|mode| self.has_mode(mode))
    }

    /// True if the fragment has a word that counts for files and folders too.
    pub(super) fn has_words_for_files(&self) -> bool {
        self.asks_for_zarr()
            || ["merge", "hdf4=all", "hdfeos", "noconsolidated"].iter().any(|word| self.has_mode(word))
    }

    /// True if the fragment asks for a zip file.
    pub(crate) fn asks_for_zip(&self) -> bool {
        self.has_mode(ZIP)
    }

    /// True if the fragment asks that chunks are merged which others change too.
    pub(crate) fn asks_to_merge(&self) -> bool {
        self.has_mode("merge")
    }

    /// True if the fragment asks for what the HDF-EOS2 metadata of an HDF4 file says.
    pub(crate) fn asks_for_hdf_eos(&self) -> bool {
        self.has_mode("hdfeos")
    }

    /// Returns true if the fragment asks for all of an HDF4 file.
    ///
    /// # Errors
    /// `NC_EINVAL` together with `hdfeos`: one dataset has one view.
    pub(crate) fn asks_for_all_of_hdf4(&self) -> Result<bool> {
        let asks = self.has_mode("hdf4=all");
        if asks && self.asks_for_hdf_eos() {
            let what = "hdf4=all and hdfeos in the fragment of a URL exclude each other: tables and rasters belong to no group of HDF-EOS2";
            return Err(Error::new(Code::EINVAL, what));
        }
        Ok(asks)
    }

    /// Returns the format and the kind of Zarr store that the fragment asks for; `None` if it asks for none. Without a version it is the
    /// second one, as in netCDF-C, but for `zip` alone, which says nothing else than a name that ends in `.zarr.zip`.
    pub(crate) fn zarr(&self) -> Option<(Format, ZarrOptions)> {
        let is_pure = (self.has_mode("zarr") || self.has_mode("xarray")) && !self.has_mode("nczarr");
        let is_v3 = self.has_mode("v3") || !self.says_kind_of_zarr();
        let container = if is_v3 { Container::ZarrV3 } else { Container::ZarrV2 };
        let options = self.zarr_options(ZarrOptions { nczarr: !is_pure, ..ZarrOptions::default() });
        self.asks_for_zarr().then(|| (Format::new(container, DataModel::Netcdf4), options))
    }

    /// Returns a word of the fragment that asks for another store than this one: another version, or one with or without netCDF's metadata.
    pub(super) fn zarr_word_against(&self, format: Format, nczarr: bool) -> Option<&'static str> {
        let is_nczarr = self.has_mode("nczarr");
        let version = if format.container() == Container::ZarrV3 { "v2" } else { "v3" };
        let kinds: &[&str] = match nczarr {
            true if is_nczarr => &[],
            true => &["zarr", "xarray"],
            false => &["nczarr"],
        };
        kinds.iter().copied().chain([version]).find(|word| self.has_mode(word))
    }

    /// Returns options of a store that is to be made with what the fragment says of them: `noxarray`, `noconsolidated`, `zip`.
    pub(super) fn zarr_options(&self, options: ZarrOptions) -> ZarrOptions {
        ZarrOptions {
            xarray: options.xarray && !self.has_mode("noxarray"),
            consolidated: options.consolidated && !self.has_mode("noconsolidated"),
            zip: options.zip || self.asks_for_zip(),
            ..options
        }
    }

    /// True if the fragment has a word of `mode`, in small letters or capitals.
    pub(super) fn has_mode(&self, wanted: &str) -> bool {
        self.mode_words().any(|word| word.eq_ignore_ascii_case(wanted.as_bytes()))
    }

    /// Returns the words of `mode` in the fragment, and words without a value, which are modes too, as `hdf4=all` is.
    pub(super) fn mode_words(&self) -> impl Iterator<Item = &[u8]> {
        let (_, fragment) = self.split_fragment();
        let settings = fragment.split(|&byte| byte == b'&');
        let words = settings.filter_map(words_of).flat_map(|words| words.split(|&byte| byte == b','));
        words.map(<[u8]>::trim_ascii)
    }

    /// Returns the text without the fragment, and the fragment: settings that are separated by `&`.
    pub fn split_fragment(&self) -> (&[u8], &[u8]) {
        match self.text.iter().position(|&byte| byte == b'#') {
            Some(at) => (&self.text[..at], &self.text[at + 1..]),
            None => (&self.text, &[]),
        }
    }

    /// Returns the URL without settings: neither those in brackets before the scheme, nor the fragment.
    #[cfg(feature = "remote")]
    pub(super) fn address(&self) -> &[u8] {
        let (rest, _) = self.split_fragment();
        without_brackets(rest).unwrap_or(rest)
    }

    /// Returns the scheme in lower case.
    #[cfg(feature = "remote")]
    pub(super) fn scheme(&self) -> String {
        let scheme = self.address().split(|&byte| byte == b':').next().unwrap_or_default();
        String::from_utf8_lossy(scheme).to_ascii_lowercase()
    }

    /// Returns the keys and values of all settings: those in brackets before the scheme, and those of the fragment. A setting without
    /// a value has an empty one.
    #[cfg(feature = "remote")]
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let (rest, fragment) = self.split_fragment();
        let brackets = &rest[..rest.len() - self.address().len()];
        let settings =
            brackets.split(|&byte| b"[]".contains(&byte)).chain(fragment.split(|&byte| byte == b'&'));
        let text = |bytes: &[u8]| String::from_utf8_lossy(&decoded(bytes)).into_owned();
        let setting = |setting: &[u8]| {
            let mut parts = setting.splitn(2, |&byte| byte == b'=').map(text);
            (parts.next().unwrap_or_default().to_ascii_lowercase(), parts.next().unwrap_or_default())
        };
        settings.filter(|setting| !setting.is_empty()).map(setting).collect()
    }

    /// Returns the path that a `file:` URL names, with its percent escapes decoded.
    pub(crate) fn local_path(&self) -> Result<Vec<u8>> {
        let fail = |code, why: &str| Err(Error::new(code, why).at(self));
        let (rest, _) = self.split_fragment();
        let rest = &rest[FILE.len() - 1..];
        let path = rest.strip_prefix(b"//").map_or(rest, |rest| match rest.strip_prefix(HOST) {
            Some(_) => &rest[HOST.len() - 1..],
            None => rest,
        });
        if path.contains(&b'?') {
            return fail(Code::EDAPCONSTRAINT, "a file takes no query");
        }
        if let Some(word) = self.mode_words().find(|word| OTHER_MODES.contains(word)) {
            return fail(Code::ENOTBUILT, &format!("mode {} is not of a file", word.escape_ascii()));
        }
        let path = decoded(path);
        if path.contains(&0) {
            return fail(Code::EDAPURL, "a zero byte in a path");
        }
        Ok(path)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

/// Returns a URL from its scheme on; `None` if a bracket before it does not end.
fn without_brackets(mut text: &[u8]) -> Option<&[u8]> {
    while let Some(settings) = text.strip_prefix(b"[") {
        let end = settings.iter().position(|&byte| byte == b']')?;
        text = &settings[end + 1..];
    }
    Some(text)
}

/// Returns the words that a setting of a fragment consists of; `None` if it has another key than `mode` and `hdf4`.
fn words_of(setting: &[u8]) -> Option<&[u8]> {
    match setting.iter().position(|&byte| byte == b'=').map(|at| setting.split_at(at)) {
        None => Some(setting),
        Some((key, value)) if key.eq_ignore_ascii_case(b"mode") => Some(&value[1..]),
        Some((key, _)) => key.eq_ignore_ascii_case(b"hdf4").then_some(setting),
    }
}

fn starts_as_file(text: &[u8]) -> bool {
    text.get(..FILE.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(FILE))
}

fn is_of_scheme(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.".contains(byte)
}

/// Text with its percent escapes decoded. A percent sign before anything else stands for itself.
fn decoded(text: &[u8]) -> Vec<u8> {
    percent_encoding::percent_decode(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;

    #[test]
    fn urls_of_files_are_their_paths() {
        for (url, path) in [
            ("file:///d/a.nc", "/d/a.nc"),
            ("file:/d/a.nc", "/d/a.nc"),
            ("FILE://localhost/d/a.nc", "/d/a.nc"),
            ("file://d/a.nc", "d/a.nc"),
            ("file:///d/a%20b%2.nc", "/d/a b%2.nc"),
            ("file:///d/a b.nc#mode=netcdf-4", "/d/a b.nc"),
            ("file:///d/%23.nc#mode=bytes&x=y", "/d/#.nc"),
            ("file:a.nc", "file:a.nc"),
            ("/d/a%20b.nc#mode=zarr", "/d/a%20b.nc#mode=zarr"),
            ("a folder/b://c.nc", "a folder/b://c.nc"),
            ("[x/y://c", "[x/y://c"),
            ("", ""),
        ] {
            let path_of = Location::parse(url.as_bytes()).and_then(Location::into_path);
            assert_eq!(path_of.unwrap().to_str(), Some(path), "{url}");
        }
    }

    #[test]
    fn url_that_names_no_file_is_refused() {
        for (url, code) in [
            ("file:///a.nc?x", Code::EDAPCONSTRAINT),
            ("file:///a%00.nc", Code::EDAPURL),
            ("file:///a#mode=nczarr,file", Code::ENOTBUILT),
            ("file:///a#x=y&zarr", Code::ENOTBUILT),
            ("http://host/a.nc", Code::ENOTBUILT),
            ("[log][x=1]dods://host/a.nc", Code::ENOTBUILT),
            ("s3://bucket/a.nc#mode=nczarr,s3", Code::ENOTBUILT),
        ] {
            let path = Location::parse(url.as_bytes()).and_then(Location::into_path);
            assert_eq!(path.unwrap_err().code, code, "{url}");
        }
    }
}
