//! Chunk specifications (`-c`): checked here against the input's names, as the reference does before it creates the
//! output, and turned into chunk shapes for outputs that have chunks.

use ferrocdf::model::Chunking;
use ferrocdf::{Code, Error, GroupId, Model, Result, VarId};

use super::options::Options;

/// What a specification that was checked says of a variable; `None` if nothing. A chunk length of 0 is still to be chosen:
/// that along unlimited dimensions, where they become fixed ones.
pub fn wanted(model: &Model, var: VarId, spec: &[u8], fixes: bool) -> Result<Option<Chunking>> {
    let shape = model.shape(var);
    if let Some(colon) = spec.iter().position(|&byte| byte == b':') {
        let (name, sizes) = (&spec[..colon], &spec[colon + 1..]);
        if model.find_var_at(name) != Some(var) {
            return Ok(None);
        }
        return Ok(Some(match sizes {
            _ if sizes.eq_ignore_ascii_case(b"compact") => Chunking::Compact,
            _ if sizes.is_empty() || sizes.eq_ignore_ascii_case(b"contiguous") => Chunking::Contiguous,
            _ => {
                let list = sizes.strip_suffix(b",").unwrap_or(sizes).split(|&byte| byte == b',');
                Chunking::Chunked(list.map(chunk_size).collect::<Result<_>>()?)
            }
        }));
    }
    let dims = &model.var(var).dims;
    if matches!(spec, b"" | b"/" | b"//") {
        return Ok((!dims.is_empty()).then_some(Chunking::Contiguous));
    }
    let known = match &model.var(var).storage.chunking {
        Some(Chunking::Chunked(known)) if known.len() == dims.len() => Some(known.clone()),
        _ => None,
    };
    let usual = dims.iter().zip(&shape).map(|(&dim, &len)| match model.dim(dim).unlimited {
        true => u64::from(!fixes),
        false => len,
    });
    let mut chunk: Vec<u64> = known.unwrap_or_else(|| usual.collect());
    let Some(lengths) = lengths(model, var, spec) else { return Ok(None) };
    for ((chunk, length), &dim) in chunk.iter_mut().zip(lengths).zip(dims) {
        let Some(length) = length else { continue };
        let dim = model.dim(dim);
        *chunk = if dim.unlimited { length } else { length.min(dim.len.max(1)) };
    }
    Ok(Some(Chunking::Chunked(chunk)))
}

/// Returns a line if the chunk shape that `ferrocdf repack` gives to a variable is another one in the copy.
pub fn warning(
    source: &Model,
    target: &Model,
    options: &Options,
    (var, to): (VarId, VarId),
) -> Option<String> {
    let wished = options.chunk_shapes.get(&var)?;
    let Some(Chunking::Chunked(made)) = &target.var(to).storage.chunking else { return None };
    let (file, path) = (options.input.display(), source.var_path(var));
    let why = "no chunk is longer than a dimension of fixed length";
    (made != wished).then(|| {
        format!("warning: {file}: {path}: the chunk shape {wished:?} is cut to {made:?}, since {why}")
    })
}

/// The lengths that a specification, which was checked, says of the dimensions of a variable; `None` if it names none of them.
pub fn lengths(model: &Model, var: VarId, spec: &[u8]) -> Option<Vec<Option<u64>>> {
    let dims = &model.var(var).dims;
    let mut lengths = vec![None; dims.len()];
    for part in parts(spec) {
        let Some(slash) = part.iter().rposition(|&byte| byte == b'/') else { continue };
        let Some(dim) = model.find_dim(GroupId::ROOT, &part[..slash]) else { continue };
        let size = integer(&part[slash + 1..]).and_then(|size| u64::try_from(size).ok());
        let size = size.filter(|_| !part[slash + 1..].is_empty()).unwrap_or(model.dim(dim).len.max(1));
        let places = dims.iter().zip(&mut lengths).filter(|(of, _)| **of == dim);
        places.for_each(|(_, length)| *length = Some(size));
    }
    lengths.iter().any(Option::is_some).then_some(lengths)
}

/// Whether chunks of a shape are too small to be made of a variable on fixed dimensions, unless they are asked for with
/// the variable's name.
pub fn is_small(model: &Model, var: VarId, chunk: &[u64], least: u64) -> bool {
    let size = model.size_of(model.var(var).ty) as u64;
    chunk.iter().fold(size, |bytes, &len| bytes.saturating_mul(len)) < least
}

/// What lies between commas; one behind a backslash belongs to a name.
fn parts(spec: &[u8]) -> Vec<&[u8]> {
    let mut before = 0;
    let splits = |&byte: &u8| {
        let splits = byte == b',' && before != b'\\';
        before = byte;
        splits
    };
    spec.split(splits).collect()
}

/// Checks one specification: `dim1/n1,dim2/n2,...`, `/`, `var:n1,n2,...`, `var:`, `var:compact`, `var:contiguous`.
///
/// Fails with `NC_EBADDIM` or `NC_ENOTVAR` for unknown names, with `NC_EBADCHUNK` for chunks of a variable that are longer
/// than its dimensions, with `NC_EINVAL` if it is malformed.
pub fn check(model: &Model, spec: &[u8]) -> Result<()> {
    let shown = || String::from_utf8_lossy(spec).into_owned();
    let checked = match spec.iter().position(|&byte| byte == b':') {
        Some(colon) => check_var(model, &spec[..colon], &spec[colon + 1..]),
        None => check_dims(model, spec),
    };
    checked.map_err(|error| error.at(format_args!("chunk specification \"{}\"", shown())))
}

fn check_var(model: &Model, name: &[u8], sizes: &[u8]) -> Result<()> {
    let Some(var) = model.find_var_at(name) else {
        return Err(Error::new(Code::ENOTVAR, format!("no variable \"{}\"", String::from_utf8_lossy(name))));
    };
    let words = [&b"compact"[..], b"contiguous"];
    if sizes.is_empty() || words.iter().any(|word| sizes.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    // A comma may end the list.
    let list = sizes.strip_suffix(b",").unwrap_or(sizes);
    let sizes: Vec<u64> = list.split(|&byte| byte == b',').map(chunk_size).collect::<Result<_>>()?;
    let shape = model.shape(var);
    if sizes.len() != shape.len() {
        let what = format!("{} chunk sizes for {} dimensions", sizes.len(), shape.len());
        return Err(Error::new(Code::EINVAL, what));
    }
    match sizes.iter().zip(&shape).find(|(size, len)| size > len) {
        Some((size, len)) => {
            Err(Error::new(Code::EBADCHUNK, format!("a chunk of {size} in a dimension of length {len}")))
        }
        None => Ok(()),
    }
}

fn check_dims(model: &Model, spec: &[u8]) -> Result<()> {
    if spec.is_empty() || spec == b"/" || spec == b"//" {
        return Ok(());
    }
    let parts = parts(spec);
    if parts.windows(2).any(|pair| pair[0].is_empty() || pair[1].is_empty()) {
        return Err(Error::new(Code::EINVAL, "a dimension is missing between two commas"));
    }
    for part in parts {
        let Some(slash) = part.iter().rposition(|&byte| byte == b'/') else {
            return Err(Error::new(Code::EINVAL, "a dimension lacks \"/\" and its chunk size"));
        };
        let (name, size) = (&part[..slash], &part[slash + 1..]);
        let shown = || String::from_utf8_lossy(name);
        if name.contains(&b'/') && !model.format().is_enhanced() {
            return Err(Error::new(Code::ENOGRP, format!("\"{}\" in a file without groups", shown())));
        }
        if model.find_dim(GroupId::ROOT, name).is_none() {
            return Err(Error::new(Code::EBADDIM, format!("no dimension \"{}\"", shown())));
        }
        if !size.is_empty() && !matches!(integer(size), Some(1..)) {
            return Err(Error::new(
                Code::EINVAL,
                format!("\"{}\" is no chunk size", String::from_utf8_lossy(size)),
            ));
        }
    }
    Ok(())
}

/// The chunk size of one dimension of a variable, as C's `scanf` reads an unsigned number: what follows it is not looked
/// at, and a minus sign makes it huge.
fn chunk_size(word: &[u8]) -> Result<u64> {
    let text = word.trim_ascii_start();
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        let what = format!("\"{}\" is no chunk size", String::from_utf8_lossy(word));
        return Err(Error::new(Code::EINVAL, what));
    }
    let size = String::from_utf8_lossy(&text[..digits]).parse().unwrap_or(u64::MAX);
    Ok(if negative { size.wrapping_neg() } else { size })
}

/// The integer at the start of a word, as C's `strtoll` reads it: hexadecimal behind `0x`, octal behind `0`. `None` if
/// there is none, or one beyond 64 bits.
fn integer(word: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(word.trim_ascii_start()).into_owned();
    let (sign, text) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (&text[..1], rest),
        None => ("", &text[..]),
    };
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let (radix, text) = match hexadecimal.filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit())) {
        Some(rest) => (16, rest),
        None if text.starts_with('0') => (8, text),
        None => (10, text),
    };
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    i64::from_str_radix(&format!("{sign}{}", &text[..end]), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrocdf::{Atomic, Format};

    #[test]
    fn paths_lead_into_groups() {
        let mut model = Model::new(Format::NETCDF4);
        let x = model.def_dim(GroupId::ROOT, "x", Some(4)).unwrap();
        let group = model.def_group(GroupId::ROOT, "g").unwrap();
        let inner = model.def_var(group, "v", Atomic::Int.into(), &[x]).unwrap();
        check(&model, b"/g/v:2").unwrap();
        assert_eq!(wanted(&model, inner, b"/g/v:2", false).unwrap(), Some(Chunking::Chunked(vec![2])));
        for none in [&b"v:2"[..], b"/v:2", b"/h/v:2", b"/g/w:2"] {
            assert_eq!(check(&model, none).unwrap_err().code, Code::ENOTVAR);
        }
    }

    #[test]
    fn names_and_sizes_are_checked() {
        let mut model = Model::new(Format::CLASSIC);
        let x = model.def_dim(GroupId::ROOT, "x", Some(4)).unwrap();
        model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x]).unwrap();
        for good in ["", "/", "x/2", "x/", "x/0x10", "x/9z", "v:2", "v:", "v:compact", "/v:4", "v:0,", "v:2z"]
        {
            check(&model, good.as_bytes()).unwrap();
        }
        let code = |spec: &str| check(&model, spec.as_bytes()).unwrap_err().code;
        assert_eq!((code("y/2"), code("w:1"), code("/x/2")), (Code::EBADDIM, Code::ENOTVAR, Code::ENOGRP));
        assert_eq!((code("v:5"), code("v:-1")), (Code::EBADCHUNK, Code::EBADCHUNK));
        for bad in ["x", "x/0", "x/-1", "x/99999999999999999999", "x/2,,x/2", "x/2,", "v:1,1", "v:,", "v:a"] {
            assert_eq!(code(bad), Code::EINVAL, "{bad}");
        }
    }
}
