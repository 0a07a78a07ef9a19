//! `ferrocdf refs`: references to the chunks of a dataset, which other programs read as a Zarr store.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use ferrocdf::references::{MadeReferences, ReferenceOptions, References};
use ferrocdf::store::{MemoryBlob, write_file};
use ferrocdf::{Code, Error, Location, Result};

use crate::input::{location, overlap};
use crate::progress::RemoteProgress;
use crate::says;

/// The command line.
#[derive(Args)]
pub struct RefsOptions {
    /// The file to write; standard output unless given.
    #[arg(short, long, value_name = "OUT.json")]
    output: Option<PathBuf>,
    /// Chunks with fewer bytes become a part of the references.
    #[arg(long, value_name = "BYTES", default_value_t = ReferenceOptions::default().inline)]
    inline: u64,
    /// The folder or URL in which readers find the file, relative to the references if it is a relative path; where the file is unless given.
    #[arg(long, value_name = "URL")]
    base: Option<String>,
    /// The dimension along which several datasets are joined, in their order. They must have the same variables, chunks, filters, units and
    /// scales, and the same values in variables without the dimension.
    #[arg(long, value_name = "DIMENSION")]
    concat: Option<String>,
    /// The dataset: a path, or a URL (http, https, s3, gs, az). Several with `--concat`.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
}

/// Writes the references of datasets. Returns the exit code: 1 if a variable or an attribute is missing in them, which standard error tells.
///
/// # Errors
/// Those of the datasets and of writing; `NC_EINVAL` for several without a dimension along which they are joined.
pub fn run(options: &RefsOptions) -> Result<u8> {
    let input = |path: &PathBuf| {
        let location = location(path)?;
        let url = options.base.as_ref().map(|base| match (base.trim_end_matches('/'), &*name(&location)) {
            ("", name) => name.to_string(),
            (base, name) => format!("{base}/{name}"),
        });
        Ok((location, ReferenceOptions { url, inline: options.inline }))
    };
    if let Some(output) = &options.output
        && let Some(input) = options.inputs.iter().find(|input| overlap(input, output).is_some())
    {
        let what = format!("the output would overwrite {}", input.display());
        return Err(Error::new(Code::EINVAL, what).at(output.display()));
    }
    let inputs: Vec<(Location, ReferenceOptions)> =
        options.inputs.iter().map(input).collect::<Result<_>>()?;
    let shown = inputs.first().map(|(location, _)| RemoteProgress::of(location, "reading"));
    let MadeReferences { references, skipped } = match (&options.concat, &inputs[..]) {
        (Some(dimension), inputs) => References::concat(dimension, inputs)?,
        (None, [(location, making)]) => References::of(location, making)?,
        (None, _) => {
            let what =
                "several datasets are joined along a dimension: say which one, with --concat DIMENSION";
            return Err(Error::new(Code::EINVAL, what));
        }
    };
    drop(shown);
    let text = references.to_json();
    match &options.output {
        Some(path) => match location(path)? {
            Location::Path(path) => write_file(&path, text.as_bytes())?,
            place => place.put(&MemoryBlob::new(text.into_bytes()))?,
        },
        None => {
            let written = std::io::stdout().lock().write_all(text.as_bytes());
            written.map_err(|error| Error::system(error, "standard output"))?;
        }
    }
    for error in &skipped {
        eprintln!("ferrocdf refs: skipped: {}", says::once(error));
    }
    Ok(u8::from(!skipped.is_empty()))
}

/// Returns the last name of a location, without settings.
fn name(input: &Location) -> String {
    let text = match input {
        Location::Path(path) => path.to_string_lossy().into_owned(),
        Location::Url(url) => String::from_utf8_lossy(url.split_fragment().0).into_owned(),
        _ => String::new(),
    };
    text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_string()
}
