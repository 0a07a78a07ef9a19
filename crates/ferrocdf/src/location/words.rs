//! The words of a URL's fragment that have a meaning, here or in netCDF-C.
//!
//! The decision that shaped it: a word that nobody knows is an error, since a store that `#mode=nczarr,v4` made would be another one than
//! was asked for. Settings with a value and another key than `mode` pass, as in netCDF-C: they are for servers and clouds.

use ferrocdf_bytes::{Code, Error, Result};

use super::Url;

/// Formats, protocols and stores of netCDF-C. `udf0` to `udf9` are further ones.
const FORMATS: [&str; 16] = [
    "bytes",
    "classic",
    "consolidated",
    "dap2",
    "dap4",
    "enhanced",
    "file",
    "gs3",
    "nczarr",
    "netcdf-3",
    "netcdf-4",
    "noxarray",
    "s3",
    "xarray",
    "zarr",
    "zip",
];

/// What this library adds to them.
const OURS: [&str; 6] = ["hdf4=all", "hdfeos", "merge", "noconsolidated", "v2", "v3"];

/// Keys without a value that netCDF-C has for DAP servers.
const OF_DAP: [&str; 10] = [
    "cache",
    "fillmismatch",
    "hyrax",
    "log",
    "nocache",
    "nofillmismatch",
    "noprefetch",
    "noseqdims",
    "prefetch",
    "show",
];

impl Url {
    /// Checks that all words of the fragment are known, and that they ask for one version of Zarr.
    ///
    /// # Errors
    /// `NC_EINVAL` for a word of `mode`, or a word without a value, that is not known, and for `v2` with `v3`.
    pub(super) fn check_words(&self) -> Result<()> {
        let Some(word) = self.mode_words().find(|word| !is_known(word)) else {
            return self.check_version();
        };
        let mut words = [&FORMATS[..], &OURS, &OF_DAP, &["udf0 to udf9"]].concat();
        words.sort_unstable();
        let what = format!(
            "\"{}\" is no word of a fragment; the words are {} (a # in a name is written %23)",
            word.escape_ascii(),
            words.join(", ")
        );
        Err(Error::new(Code::EINVAL, what).at(self))
    }

    fn check_version(&self) -> Result<()> {
        if self.has_mode("v2") && self.has_mode("v3") {
            let what = "the fragment has v2 and v3: a store is of one version of Zarr";
            return Err(Error::new(Code::EINVAL, what).at(self));
        }
        Ok(())
    }
}

/// True for words that have a meaning, in small letters or capitals, and for empty ones: `#mode=nczarr,`.
fn is_known(word: &[u8]) -> bool {
    let is_format_of_user = |digit: &[u8]| matches!(digit, [b'0'..=b'9']);
    let word = word.to_ascii_lowercase();
    word.is_empty()
        || word.strip_prefix(b"udf").is_some_and(is_format_of_user)
        || [&FORMATS[..], &OURS, &OF_DAP]
            .iter()
            .any(|words| words.iter().any(|known| known.as_bytes() == word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;

    #[test]
    fn word_that_nobody_knows_is_refused_by_its_name() {
        for (fragment, word) in [
            ("mode=nczarr,v4", "v4"),
            ("mode=zarrr", "zarrr"),
            ("zarrr", "zarrr"),
            ("mode=nczarr&MODE=fil", "fil"),
            ("hdf4=al", "hdf4=al"),
            ("mode=udf10", "udf10"),
            ("aws.profile=p&mode=v2,nc4", "nc4"),
        ] {
            for start in ["file:///d/a.zarr", "https://host/a.zarr", "s3://bucket/a.zarr"] {
                let error = Location::parse(format!("{start}#{fragment}").as_bytes()).err().unwrap();
                assert_eq!(error.code, Code::EINVAL);
                let shown = error.to_string();
                assert!(shown.starts_with(&format!("{start}#{fragment}: \"{word}\" is no word")), "{shown}");
                assert!(shown.contains("v2, v3, xarray, zarr, zip"), "{shown}");
            }
        }
    }

    #[test]
    fn two_versions_are_refused() {
        let error = Location::parse(b"file:///d/a.zarr#mode=V2,zarr&v3").err().unwrap();
        assert_eq!(error.code, Code::EINVAL);
        assert!(error.to_string().contains("the fragment has v2 and v3"), "{error}");
    }

    #[test]
    fn words_of_netcdf_c_and_settings_of_any_key_pass() {
        for fragment in [
            "",
            "mode=",
            "mode=nczarr,",
            "Mode=NCZarr,V3",
            "mode=nczarr,zip&merge",
            "zarr",
            "noxarray&noconsolidated",
            "hdf4=all",
            "mode=hdf4=all,hdfeos",
            "bytes&aws.profile=unidata",
            "log&show=fetch&cache",
            "hyrax&mode=zarr, file",
            "whatever=x",
            "mode=udf0,udf9",
        ] {
            let url = format!("https://host/a.nc#{fragment}");
            assert!(Location::parse(url.as_bytes()).is_ok(), "{url}");
        }
    }
}
