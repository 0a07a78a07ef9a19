//! Settings of the process, read safely while another thread may fork.

use ferrocdf::run_control;

use crate::abi::forks;

/// Returns the value of a key, if it has one.
pub(crate) fn setting(key: &[u8]) -> Option<Vec<u8>> {
    forks::make_safe();
    run_control::get(key)
}
