//! URLs of files of this machine (RFC 8089), as which programs may name any file.
//!
//! netCDF-C 4.10.1 knows them and opens none but with `#mode=bytes`. The forms are those that it reads: `file:///path`,
//! `file:/path`, `file://localhost/path`, and `file://path` for a path relative to the folder of the process.

use std::borrow::Cow;

use ferrocdf_bytes::{Code, Error, Result};

const SCHEME: &[u8] = b"file:/";
const HOST: &[u8] = b"localhost/";

/// Words of `mode` in a fragment that ask for something else than a file.
const OTHERS: [&[u8]; 8] = [b"dap2", b"dap4", b"gs3", b"nczarr", b"noxarray", b"s3", b"xarray", b"zarr"];

/// The path that a `file:` URL names, with its percent escapes decoded and without its fragment. Any other text is a path as
/// it is.
///
/// # Errors
/// `NC_EDAPCONSTRAINT` for a query, `NC_EDAPURL` for a path with a zero byte, `NC_ENOTBUILT` for a fragment that asks for a Zarr
/// store or for a server.
pub fn local_path(text: &[u8]) -> Result<Cow<'_, [u8]>> {
    let Some((scheme, _)) = text.split_at_checked(SCHEME.len()) else { return Ok(text.into()) };
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Ok(text.into());
    }
    let fail = |code, why: &str| Err(Error::new(code, format!("{}: {why}", text.escape_ascii())));
    let rest = &text[SCHEME.len() - 1..];
    let rest = rest.strip_prefix(b"//").map_or(rest, |rest| match rest.strip_prefix(HOST) {
        Some(_) => &rest[HOST.len() - 1..],
        None => rest,
    });
    let (path, fragment) = match rest.iter().position(|&byte| byte == b'#') {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    if path.contains(&b'?') {
        return fail(Code::EDAPCONSTRAINT, "a file takes no query");
    }
    let words = |setting: &'_ [u8]| setting.strip_prefix(b"mode=").unwrap_or(setting).to_vec();
    for setting in fragment.split(|&byte| byte == b'&').map(words) {
        if let Some(word) = setting.split(|&byte| byte == b',').find(|word| OTHERS.contains(word)) {
            return fail(Code::ENOTBUILT, &format!("mode {} is not of a file", word.escape_ascii()));
        }
    }
    let path = decoded(path);
    if path.contains(&0) {
        return fail(Code::EDAPURL, "a zero byte in a path");
    }
    Ok(path.into())
}

/// Text with its percent escapes decoded. A percent sign before anything else stands for itself.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_files_are_their_paths() {
        for (url, path) in [
            ("file:///d/a.nc", "/d/a.nc"),
            ("file:/d/a.nc", "/d/a.nc"),
            ("FILE://localhost/d/a.nc", "/d/a.nc"),
            ("file://d/a.nc", "d/a.nc"),
            ("file:///d/a%20b%2.nc", "/d/a b%2.nc"),
            ("file:///d/a b.nc#mode=netcdf-4", "/d/a b.nc"),
            ("file:///d/%23.nc#mode=bytes&x", "/d/#.nc"),
            ("file:a.nc", "file:a.nc"),
            ("/d/a%20b.nc#mode=zarr", "/d/a%20b.nc#mode=zarr"),
            ("http://host/a.nc", "http://host/a.nc"),
            ("", ""),
        ] {
            assert_eq!(local_path(url.as_bytes()).unwrap(), path.as_bytes(), "{url}");
        }
    }

    #[test]
    fn what_is_no_file_is_refused() {
        for (url, code) in [
            ("file:///a.nc?x", Code::EDAPCONSTRAINT),
            ("file:///a%00.nc", Code::EDAPURL),
            ("file:///a#mode=nczarr,file", Code::ENOTBUILT),
            ("file:///a#x&zarr", Code::ENOTBUILT),
        ] {
            assert_eq!(local_path(url.as_bytes()).unwrap_err().code, code, "{url}");
        }
    }
}
