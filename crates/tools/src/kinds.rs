//! Names of the kinds of files on command lines (`-k`).

use std::path::Path;

use ferrocdf::{Container, DataModel, Format, Location, ZarrOptions};

use crate::input::location;

/// Every spelling the reference's tools take, the canonical name of each kind first.
const KINDS: [(&str, Format); 26] = [
    ("classic", Format::CLASSIC),
    ("nc3", Format::CLASSIC),
    ("1", Format::CLASSIC),
    ("64-bit offset", Format::OFFSET64),
    ("nc6", Format::OFFSET64),
    ("2", Format::OFFSET64),
    ("64-bit-offset", Format::OFFSET64),
    ("netCDF-4", Format::NETCDF4),
    ("nc4", Format::NETCDF4),
    ("3", Format::NETCDF4),
    ("netCDF4", Format::NETCDF4),
    ("hdf5", Format::NETCDF4),
    ("enhanced", Format::NETCDF4),
    ("netCDF-4 classic model", Format::NETCDF4_CLASSIC),
    ("nc7", Format::NETCDF4_CLASSIC),
    ("4", Format::NETCDF4_CLASSIC),
    ("netCDF-4-classic", Format::NETCDF4_CLASSIC),
    ("netCDF-4_classic", Format::NETCDF4_CLASSIC),
    ("netCDF4_classic", Format::NETCDF4_CLASSIC),
    ("hdf5-nc3", Format::NETCDF4_CLASSIC),
    ("enhanced-nc3", Format::NETCDF4_CLASSIC),
    ("cdf5", Format::DATA64),
    ("nc5", Format::DATA64),
    ("5", Format::DATA64),
    ("64-bit data", Format::DATA64),
    ("64-bit-data", Format::DATA64),
];

/// The kind called `name`.
pub fn find(name: &[u8]) -> Option<Format> {
    KINDS.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, format)| format)
}

/// The name of each kind, for messages.
pub fn names() -> Vec<&'static str> {
    let mut seen = Vec::new();
    let first_of_format = |(name, format): &(&'static str, Format)| {
        let is_new = !seen.contains(format);
        seen.push(*format);
        is_new.then_some(*name)
    };
    let kinds = KINDS.iter().filter_map(first_of_format);
    kinds.chain(["nczarr", "nczarr2", "zarr", "zarr2"]).collect()
}

/// True for the format of a Zarr store.
pub fn is_zarr(format: Format) -> bool {
    matches!(format.container(), Container::ZarrV2 | Container::ZarrV3)
}

/// The Zarr store that an output asks for by its name, where a kind was given or not: the fragment of a URL (`#mode=nczarr`) counts
/// more than a netCDF-4 kind, as in the reference's tools, whose `-4` goes with every such URL.
pub fn zarr_of_output(output: &Path, kind: Option<Format>) -> Option<(Format, ZarrOptions)> {
    let is_netcdf4 = matches!(kind, Some(Format::NETCDF4 | Format::NETCDF4_CLASSIC));
    let has_fragment = || output.as_os_str().as_encoded_bytes().contains(&b'#');
    let location =
        if kind.is_none() || (is_netcdf4 && has_fragment()) { location(output).ok()? } else { return None };
    let is_url = matches!(location, Location::Url(_));
    location.zarr().filter(|_| kind.is_none() || is_url)
}

/// What to say if `-k` and the fragment of the output's URL ask for different Zarr stores.
pub fn contradiction(output: &Path, format: Format, zarr: &ZarrOptions) -> Option<String> {
    let word = location(output).ok()?.zarr_word_against(format, zarr).filter(|_| is_zarr(format))?;
    let output = output.display();
    Some(format!("{output}: \"{word}\" asks for another Zarr store than -k does: leave one of them out"))
}

/// The Zarr store of the kind called `name`: with netCDF's own metadata (`nczarr`), or for Zarr programs alone.
pub fn find_zarr(name: &[u8]) -> Option<(Format, ZarrOptions)> {
    let (container, nczarr) = match name {
        b"nczarr" | b"nczarr3" => (Container::ZarrV3, true),
        b"nczarr2" => (Container::ZarrV2, true),
        b"zarr" | b"zarr3" => (Container::ZarrV3, false),
        b"zarr2" | b"xarray" => (Container::ZarrV2, false),
        _ => return None,
    };
    let mut options = ZarrOptions::default();
    options.nczarr = nczarr;
    Some((Format::new(container, DataModel::Netcdf4), options))
}
