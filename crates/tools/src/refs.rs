//! `ferrocdf refs`: references to the chunks of a dataset, which other programs read as a Zarr store.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ferrocdf::references::{MadeReferences, ReferenceOptions, References};
use ferrocdf::store::{MemoryBlob, write_file};
use ferrocdf::{Code, Error, Location, Result};

use crate::input::{check_output, location};
use crate::progress::RemoteProgress;
use crate::says;
use crate::sources::check_overwritten;
use crate::target::Target;

/// How references are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RefsFormat {
    /// A text, which readers hold in memory.
    Json,
    /// A folder of tables, which readers open one at a time: for millions of chunks.
    Parquet,
}

/// The command line.
#[derive(Args)]
pub struct RefsOptions {
    /// The file to write, or the folder of tables; standard output unless given.
    #[arg(short, long, value_name = "OUT.json|OUT.parq")]
    pub output: Option<PathBuf>,
    /// How references are stored; parquet if the name of the output ends in .parq or .parquet, else JSON.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<RefsFormat>,
    /// Chunks of an array in each table of parquet.
    #[arg(long, value_name = "COUNT", default_value_t = References::RECORD_SIZE)]
    pub record_size: u64,
    /// Chunks with fewer bytes become a part of the references.
    #[arg(long, value_name = "BYTES", default_value_t = ReferenceOptions::default().inline)]
    pub inline: u64,
    /// The folder or URL in which readers find the file, relative to the references if it is a relative path; where the file is unless given.
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// The dimension along which several datasets are joined, in their order. They must have the same variables, chunks, filters, units and
    /// scales, and the same values in variables without the dimension.
    #[arg(long, value_name = "DIMENSION")]
    pub concat: Option<String>,
    /// Merge the variables of several datasets. Variables and dimensions that several have must be the same in all of them.
    #[arg(long, conflicts_with = "concat")]
    pub merge: bool,
    /// The dataset: a path, or a URL (http, https, s3, gs, az). Several with `--concat` or `--merge`.
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
}

impl RefsOptions {
    /// Makes the references of the datasets.
    ///
    /// # Errors
    /// Those of the datasets; `NC_EINVAL` for several without a dimension along which they are joined, and for an output that would
    /// overwrite one of them.
    pub fn make(&self) -> Result<MadeReferences> {
        let input = |path: &PathBuf| {
            let location = location(path)?;
            let url = self.base.as_ref().map(|base| match (base.trim_end_matches('/'), &*name(&location)) {
                ("", name) => name.to_string(),
                (base, name) => format!("{base}/{name}"),
            });
            Ok((location, ReferenceOptions { url, inline: self.inline }))
        };
        if let Some(output) = &self.output {
            check_output(&self.inputs, output)?;
            if output.exists() {
                check_overwritten(&self.inputs, output)?;
            }
        }
        if self.is_parquet() {
            // Before hours of reading.
            self.output.as_ref().ok_or_else(no_folder)?;
            References::check_record_size(self.record_size)?;
        }
        let inputs: Vec<(Location, ReferenceOptions)> =
            self.inputs.iter().map(input).collect::<Result<_>>()?;
        match (&self.concat, &inputs[..]) {
            (Some(dimension), inputs) => References::concat(dimension, inputs),
            (None, [(location, making)]) => References::of(location, making),
            (None, inputs) if self.merge => References::merge(inputs),
            (None, _) => {
                let what = "several datasets are joined along a dimension, which the option `concat` names, or merged with the option `merge`";
                Err(Error::new(Code::EINVAL, what))
            }
        }
    }

    /// True if the references are to be stored in parquet.
    fn is_parquet(&self) -> bool {
        let has_name = || {
            let name = self.output.as_ref().map(|output| output.to_string_lossy());
            name.is_some_and(|name| {
                let name = name.trim_end_matches('/');
                [".parq", ".parquet"].iter().any(|end| name.ends_with(end))
            })
        };
        self.format.map_or_else(has_name, |format| format == RefsFormat::Parquet)
    }

    /// Writes references to the output; to `out` if there is none.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, references: &References, out: &mut dyn Write) -> Result<()> {
        if self.is_parquet() {
            let path = self.output.as_deref().ok_or_else(no_folder)?;
            let target = Target::new_store(path)?;
            target.named(references.write_parquet(&target.location(), self.record_size))?;
            return target.replace();
        }
        let text = references.to_json();
        match &self.output {
            Some(path) => match location(path)? {
                Location::Path(path) => write_file(&path, text.as_bytes()),
                place => place.put(&MemoryBlob::new(text.into_bytes())),
            },
            None => out.write_all(text.as_bytes()).map_err(|error| Error::system(error, "standard output")),
        }
    }
}

fn no_folder() -> Error {
    Error::new(Code::EINVAL, "references in parquet are a folder: name it with the option `output`")
}

/// Writes the references of datasets. Returns the exit code: 1 if a variable or an attribute is missing in them, which standard error tells.
///
/// # Errors
/// Those of [`RefsOptions::make`] and of [`RefsOptions::write`].
pub(crate) fn run(options: &RefsOptions) -> Result<u8> {
    let first = options.inputs.first().map(|path| location(path)).transpose()?;
    let shown = first.map(|location| RemoteProgress::of(&location, "reading"));
    let made = options.make()?;
    drop(shown);
    options.write(&made.references, &mut std::io::stdout().lock())?;
    let skipped = skipped(&made);
    for line in &skipped {
        eprintln!("ferrocdf refs: skipped: {line}");
    }
    Ok(u8::from(!skipped.is_empty()))
}

/// Returns a line for each variable and attribute that is missing in references: its path, and why.
pub fn skipped(made: &MadeReferences) -> Vec<String> {
    made.skipped.iter().map(says::once).collect()
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
