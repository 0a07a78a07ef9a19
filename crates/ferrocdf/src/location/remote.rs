//! Remote datasets: from a URL to an object of a store.
//!
//! The container of a remote dataset is found in its first bytes, as that of a file is. So a fragment need not say anything: its
//! `mode` chooses the protocol (`s3`, `gs3`), and its other settings are those of requests (`aws.profile=p`).

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_remote::{Protocol, Settings};
use ferrocdf_store::Store;

use super::Url;
use crate::run_control;

/// Returns the store of a URL and the key of the object that it names. Sends no request.
///
/// # Errors
/// `NC_ENOTBUILT` for a URL of DAP, `NC_EDAPURL` for one that is malformed or of an unknown scheme.
pub(super) fn object(url: &Url) -> Result<(Arc<dyn Store>, String)> {
    let settings = settings(url).map_err(|error| error.at(url))?;
    let text = std::str::from_utf8(url.address())
        .map_err(|_| Error::new(Code::EDAPURL, "a URL is ASCII, or UTF-8").at(url))?;
    let (store, key) = ferrocdf_remote::open(text, &settings)?;
    if key.is_empty() && !url.asks_for_zarr() {
        return Err(Error::new(Code::EDAPURL, "the URL names a bucket, and no object in it").at(url));
    }
    Ok((store, key))
}

/// Returns the request settings of run-control files, and those in the brackets and the fragment of a URL. Ignores keys that have no
/// effect on requests, such as `log`.
fn settings(url: &Url) -> Result<Settings> {
    let refused = |what: &str| Err(Error::new(Code::ENOTBUILT, what.to_string()));
    let mut settings = Settings::default();
    let scheme = url.scheme();
    if ["dods", "dap4"].contains(&&*scheme) {
        return refused("it is the URL of a DAP server, which this version does not speak with");
    }
    // What the URL says wins over files, and both win over the environment.
    for (key, value) in run_control::for_url(&String::from_utf8_lossy(url.address())) {
        settings
            .set(&key, &value)
            .map_err(|error| error.at("a setting of .ncrc, .daprc, .dodsrc or the program"))?;
    }
    for (key, value) in url.settings() {
        let words = if key == "mode" { value.clone() } else { key.clone() };
        for word in words.split(',') {
            match word {
                "s3" => settings.protocol = Some(Protocol::S3),
                "gs3" => settings.protocol = Some(Protocol::Gs3),
                "dap2" | "dap4" => {
                    return refused(
                        "its mode is that of a DAP server, which this version does not speak with",
                    );
                }
                "zip" => return refused("Zarr stores in zip files are not read by this version"),
                _ => {}
            }
        }
        settings.set(&key, &value)?;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(url: &str) -> Result<(String, String)> {
        object(&Url::parse(url.as_bytes()).unwrap()).map(|(store, key)| (store.name(), key))
    }

    #[test]
    fn urls_are_objects_of_stores() {
        for (url, store, key) in [
            ("http://localhost:9/d/a.nc#mode=bytes", "http://localhost:9/d", "a.nc"),
            ("s3://bucket/d/a.nc", "s3://bucket", "d/a.nc"),
            ("http://localhost:9/bucket/d/a.nc#mode=netcdf-4,s3", "s3://bucket", "d/a.nc"),
            ("http://localhost:9/bucket/d/a.nc#s3&aws.region=x", "s3://bucket", "d/a.nc"),
            ("[aws.region=x]https://localhost:9/bucket/a.nc#mode=gs3", "s3://bucket", "a.nc"),
            ("gs://bucket/a.nc", "gs://bucket", "a.nc"),
            ("s3://bucket/a#mode=nczarr,s3", "s3://bucket", "a"),
            ("s3://bucket#mode=zarr", "s3://bucket", ""),
        ] {
            assert_eq!(found(url).unwrap(), (store.to_string(), key.to_string()), "{url}");
        }
    }

    #[test]
    fn urls_of_other_protocols_say_what_they_are() {
        for (url, code, what) in [
            ("dods://host/a.nc", Code::ENOTBUILT, "DAP"),
            ("http://host/a.nc#dap4", Code::ENOTBUILT, "DAP"),
            ("http://host/a.nc#mode=dap2", Code::ENOTBUILT, "DAP"),
            ("s3://bucket/a.zip#mode=nczarr,zip", Code::ENOTBUILT, "Zarr"),
            ("ftp://host/a.nc", Code::EDAPURL, "ftp"),
            ("s3://bucket", Code::EDAPURL, "names a bucket"),
        ] {
            let error = found(url).unwrap_err();
            assert_eq!(error.code, code, "{url}");
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}
