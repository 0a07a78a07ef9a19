//! Chunk specifications (`-c`): checked here against the input's names, as the reference does before it creates the
//! output. Classic files have no chunks, so nothing else is done with them.

use ferrocdf::{Code, Error, GroupId, Model, Result};

/// Checks one specification: `dim1/n1,dim2/n2,...`, `/`, `var:n1,n2,...`, `var:`, `var:compact`, `var:contiguous`.
///
/// Fails with `NC_EBADDIM` or `NC_ENOTVAR` for unknown names, with `NC_EINVAL` if it is malformed.
pub fn check(model: &Model, spec: &[u8]) -> Result<()> {
    let shown = || String::from_utf8_lossy(spec).into_owned();
    let checked = match spec.iter().position(|&byte| byte == b':') {
        Some(colon) => check_var(model, &spec[..colon], &spec[colon + 1..]),
        None => check_dims(model, spec),
    };
    checked.map_err(|error| error.at(format_args!("chunk specification \"{}\"", shown())))
}

fn check_var(model: &Model, name: &[u8], sizes: &[u8]) -> Result<()> {
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let Some(var) = model.find_var(GroupId::ROOT, name) else {
        return Err(Error::new(Code::ENOTVAR, format!("no variable \"{}\"", String::from_utf8_lossy(name))));
    };
    let words = [&b"compact"[..], b"contiguous"];
    if sizes.is_empty() || words.iter().any(|word| sizes.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    let sizes: Vec<&[u8]> = sizes.split(|&byte| byte == b',').collect();
    let rank = model.var(var).dims.len();
    if sizes.len() != rank {
        let what = format!("{} chunk sizes for {rank} dimensions", sizes.len());
        return Err(Error::new(Code::EINVAL, what));
    }
    sizes.iter().try_for_each(|size| check_size(size))
}

fn check_dims(model: &Model, spec: &[u8]) -> Result<()> {
    if spec.is_empty() || spec == b"/" || spec == b"//" {
        return Ok(());
    }
    for part in spec.split(|&byte| byte == b',') {
        let Some(slash) = part.iter().rposition(|&byte| byte == b'/') else {
            return Err(Error::new(Code::EINVAL, "a dimension lacks \"/\" and its chunk size"));
        };
        let (name, size) = (&part[..slash], &part[slash + 1..]);
        let name = name.strip_prefix(b"/").unwrap_or(name);
        if model.find_dim(GroupId::ROOT, name).is_none() {
            let what = format!("no dimension \"{}\"", String::from_utf8_lossy(name));
            return Err(Error::new(Code::EBADDIM, what));
        }
        if !size.is_empty() {
            check_size(size)?;
        }
    }
    Ok(())
}

fn check_size(size: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(size);
    match text.trim().parse::<u64>() {
        Ok(1..) => Ok(()),
        _ => Err(Error::new(Code::EINVAL, format!("\"{text}\" is no chunk size"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrocdf::{Atomic, Format};

    #[test]
    fn names_and_sizes_are_checked() {
        let mut model = Model::new(Format::Classic);
        let x = model.def_dim(GroupId::ROOT, "x", Some(4)).unwrap();
        model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x]).unwrap();
        for good in ["", "/", "x/2", "x/", "/x/2", "v:2", "v:", "v:compact", "/v:4"] {
            check(&model, good.as_bytes()).unwrap();
        }
        let code = |spec: &str| check(&model, spec.as_bytes()).unwrap_err().code;
        assert_eq!((code("y/2"), code("w:1")), (Code::EBADDIM, Code::ENOTVAR));
        assert_eq!((code("x"), code("x/0"), code("v:1,1")), (Code::EINVAL, Code::EINVAL, Code::EINVAL));
    }
}
