//! Which driver opens which dataset: by content, never by name. One table serves reading, writing and making.

mod classic;

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_classic::{ClassicFile, Version};
use ferrocdf_hdf4::SIGNATURE as HDF4_SIGNATURE;
use ferrocdf_hdf5::{OpenOptions as Hdf5Options, SIGNATURE as HDF5_SIGNATURE, is_hdf5};
use ferrocdf_model::{Container, Format, Model};
use ferrocdf_store::{Blob, BlobMut, MetadataViews, ZIP_SIGNATURES};

use crate::driver::{Candidate, Context, Driver, Probe, WriteDriver, WriteProbe, registered};
use crate::hdf_eos;
use crate::hdf4::Hdf4;
use crate::location::Location;
use crate::nc4::{Nc4, Nc4Writer};
use crate::nczarr::{self, NcZarr, NcZarrWriter};
use crate::plugins;
use crate::references;

/// The containers that are known, in the order in which they are looked for.
const TABLE: [Probe; 6] = [
    Probe {
        container: Container::Classic,
        recognises: |candidate| Ok(matches!(candidate.head, [b'C', b'D', b'F', 1 | 2 | 5, ..])),
        open: |blob, context| {
            let (file, model) = ClassicFile::open(blob, context.allow_missing)?;
            Ok((Box::new(file), model))
        },
        write: Some(WriteProbe {
            open: |blob, _| {
                let (file, model) = ClassicFile::open_mut(blob)?;
                Ok((Box::new(file), model))
            },
            create: |blob, format| match Version::of(format) {
                Some(version) => Ok(Box::new(ClassicFile::create(blob, version))),
                None => Err(cannot_be_made(format)),
            },
            replaces_file: true,
        }),
    },
    Probe {
        container: Container::Hdf4,
        recognises: |candidate| Ok(candidate.head.starts_with(&HDF4_SIGNATURE)),
        open: |blob, context| {
            let (driver, model) = Hdf4::open(blob, context)?;
            plugins::check_setting()?;
            if context.hdf_eos && !context.hdf4_all {
                hdf_eos::wrap(driver, model)
            } else {
                Ok((Box::new(driver), model))
            }
        },
        write: None,
    },
    Probe {
        // Of both versions: only the metadata says which one it is.
        container: Container::ZarrV3,
        recognises: |candidate| Ok(candidate.head.is_empty()),
        open: |_, context| {
            let (store, model) = NcZarr::open(context, references::open_tables)?;
            plugins::check_setting().map(|()| (Box::new(store) as _, model))
        },
        write: None,
    },
    Probe {
        // The same, in a zip file.
        container: Container::ZarrV3,
        recognises: |candidate| {
            Ok(ZIP_SIGNATURES.iter().any(|signature| candidate.head.starts_with(signature)))
        },
        open: |blob, _| {
            let (store, model) = NcZarr::open_zip(blob)?;
            plugins::check_setting().map(|()| (Box::new(store) as _, model))
        },
        write: Some(WriteProbe {
            open: |_, context| {
                let (store, model) = NcZarrWriter::open_zip(context)?;
                plugins::check_setting().map(|()| (Box::new(store) as _, model))
            },
            // Stores are made elsewhere, before a file is.
            create: |_, format| Err(cannot_be_made(format)),
            replaces_file: true,
        }),
    },
    Probe {
        container: Container::Hdf5,
        recognises: |candidate| Ok(candidate.head.starts_with(&HDF5_SIGNATURE) || is_hdf5(candidate.blob)?),
        open: |blob, context| {
            let (blob, elements) = match context.views.clone() {
                Some(MetadataViews { metadata, elements }) => (metadata, Some(elements)),
                None => (blob, None),
            };
            let options = Hdf5Options { elements, ..hdf5_options(context) };
            let (file, model) = Nc4::open(blob, options, context.all_attributes)?;
            plugins::check_setting().map(|()| (Box::new(file) as _, model))
        },
        write: Some(WriteProbe {
            open: |blob, context| {
                let (file, model) = Nc4Writer::open(Arc::from(blob), hdf5_options(context))?;
                plugins::check_setting().map(|()| (Box::new(file) as _, model))
            },
            create: |blob, _| {
                plugins::check_setting()?;
                Ok(Box::new(Nc4Writer::create(Arc::from(blob))?))
            },
            replaces_file: false,
        }),
    },
    Probe {
        // A store of version 2, of chunks in other files. The user block of an HDF5 file may be JSON, so HDF5 comes first.
        container: Container::ZarrV2,
        recognises: |candidate| Ok(references::recognises(candidate)),
        open: |blob, context| references::open(&*blob, context),
        write: None,
    },
];

fn hdf5_options(context: &Context<'_>) -> Hdf5Options {
    Hdf5Options { resolver: context.resolver.clone(), codecs: plugins::codecs(), elements: None }
}

/// Returns the entry of the container that a dataset is in.
///
/// Fails with `NC_ENOTNC` if there is none; a folder is no file of any format.
pub(crate) fn find(blob: &dyn Blob, location: &Location) -> Result<Probe> {
    let mut head = [0; Candidate::HEAD];
    let answer = if nczarr::is_folder(location) { Ok(0) } else { blob.read_at(0, &mut head) };
    let got = match answer {
        answer if nczarr::has_no_bytes(location, &answer) => 0,
        Ok(0) => return Err(Error::new(Code::ENOTNC, "it is empty")),
        answer => answer?,
    };
    let candidate = Candidate { head: &head[..got], blob, location };
    for probe in TABLE.into_iter().chain(registered()) {
        if (probe.recognises)(&candidate)? {
            return Ok(probe);
        }
    }
    Err(Error::new(Code::ENOTNC, "its first bytes are those of no netCDF format"))
}

/// Opens a dataset for reading, as what its content says it is.
pub(crate) fn open(blob: Arc<dyn Blob>, context: &Context<'_>) -> Result<(Box<dyn Driver>, Model)> {
    let probed = context.views.as_ref().map_or(&blob, |views| &views.metadata);
    let probe = find(&**probed, context.location)?;
    (probe.open)(blob, context)
}

/// Opens a dataset of a container for reading and writing.
pub(crate) fn open_mut(
    blob: Box<dyn BlobMut>,
    probe: &Probe,
    context: &Context<'_>,
) -> Result<(Box<dyn WriteDriver>, Model)> {
    if let Some(write) = probe.write {
        return (write.open)(blob, context);
    }
    let what = format!("{} files are only read", probe.container.name());
    if probe.container == Container::Hdf4 {
        // The code of netCDF-C, which looks at the mode before it looks at the file.
        return Err(Error::new(Code::EINVAL, what));
    }
    // What cannot be read either fails with the reason of that.
    (probe.open)(Arc::<dyn BlobMut>::from(blob), context)?;
    Err(Error::new(Code::EPERM, what))
}

/// Returns what makes files of a format.
pub(crate) fn writer_of(format: Format) -> Result<WriteProbe> {
    let probe = TABLE.into_iter().chain(registered()).find(|probe| probe.container == format.container());
    probe.and_then(|probe| probe.write).ok_or_else(|| cannot_be_made(format))
}

fn cannot_be_made(format: Format) -> Error {
    let what =
        format!("no {} file of the {} model can be made", format.container().name(), format.kind_name());
    Error::new(Code::ENOTBUILT, what)
}
