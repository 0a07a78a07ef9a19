//! Filters that are not built in: the seam for whoever has them.
//!
//! There is one provider for the process, told once by [`provide`]. It is asked for what is not built in, or for
//! everything first, as [`prefer_provided`] says.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ferrocdf_bytes::Result;

use crate::chain::Step;
use crate::filter::{Filter, built_in};

/// Who has filters that are not built in; any number of threads may ask at once.
pub trait Provider: Debug + Send + Sync {
    /// Whether there is a filter of this HDF5 number.
    fn has(&self, id: u32) -> bool;

    /// The filter that a file names, ready to run; `None` if there is none of its number.
    fn filter(&self, step: &Step) -> Option<Result<Box<dyn Filter>>>;

    /// Asks the filter at `at` of these whether it applies to a dataset that is to be made, and lets it change its
    /// parameters (`can_apply` and `set_local` of an HDF5 filter plugin). `None` if there is none of its number.
    ///
    /// `NC_EFILTER` if it does not apply.
    fn prepare(&self, steps: &mut [Step], at: usize, dataset: &Dataset) -> Option<Result<()>>;

    /// Whether the filter of this number changes its parameters for a dataset, so that those of one dataset are not those
    /// that a user gives.
    fn learns(&self, id: u32) -> bool;

    /// Where it looks, to be read after "looked": `in /a and /b (HDF5_PLUGIN_PATH)`.
    fn places(&self) -> String;
}

/// A dataset as filters learn of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The type of its elements.
    pub element: ElementType,
    /// The shape of a chunk; the slowest dimension first.
    pub chunk: Vec<u64>,
}

/// A type as filters learn of it (HDF5 format specification, "Datatype Message").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// The class by its number in the specification: 0 integers, 1 floats, 3 text, 9 lists, 10 arrays.
    pub class: u8,
    /// Its size in bytes.
    pub size: u32,
    /// Whether its bytes are in big-endian order.
    pub big_endian: bool,
    /// Whether it is a signed integer.
    pub signed: bool,
    /// Bits that count.
    pub precision: u32,
    /// The first of them.
    pub offset: u32,
    /// The type of the elements of an array, a list or an enumeration.
    pub base: Option<Box<ElementType>>,
}

static PROVIDER: OnceLock<&'static dyn Provider> = OnceLock::new();
static FIRST: AtomicBool = AtomicBool::new(false);

/// Tells who has the filters that are not built in. The first one stays.
pub fn provide(provider: &'static dyn Provider) {
    PROVIDER.get_or_init(|| provider);
}

/// Lets the provider go before what is built in, or not.
pub fn prefer_provided(first: bool) {
    FIRST.store(first, Ordering::Relaxed);
}

/// Whether the provider goes before what is built in.
pub fn prefers_provided() -> bool {
    FIRST.load(Ordering::Relaxed)
}

/// The provider, if there is one.
pub fn provider() -> Option<&'static dyn Provider> {
    PROVIDER.get().copied()
}

/// The filter that a file names; `None` if nobody has one of its number.
pub fn find(step: &Step) -> Option<Result<Box<dyn Filter>>> {
    let ours = || built_in(step.id, &step.params);
    let theirs = || provider().and_then(|provider| provider.filter(step));
    if prefers_provided() { theirs().or_else(ours) } else { ours().or_else(theirs) }
}

/// Whether somebody has a filter of this HDF5 number.
pub fn is_available(id: u32) -> bool {
    crate::is_built_in(id) || provider().is_some_and(|provider| provider.has(id))
}

/// Where filters are looked for, to be read after "looked".
pub(crate) fn places() -> String {
    match provider() {
        Some(provider) => format!("among the built-in filters and {}", provider.places()),
        None => "among the built-in filters".to_string(),
    }
}
