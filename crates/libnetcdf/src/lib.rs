//! The library that takes the place of `libnetcdf.so`: the functions of `ferrocdf-capi`, and with the feature `tools` the
//! programs.

use ferrocdf_capi as _;

#[cfg(feature = "tools")]
mod programs;

/// Keeps functions of a dependency out of the exports of the library. A symbol that any object file declares hidden is hidden in
/// what is linked of it.
#[cfg(all(feature = "remote", target_os = "linux"))]
macro_rules! hide {
    ($($name:ident)*) => {
        std::arch::global_asm!($(concat!(".weak ", stringify!($name), "\n.hidden ", stringify!($name))),*);
    };
}

// The C interface of `crc-fast`, which `object_store` builds with it.
#[cfg(all(feature = "remote", target_os = "linux"))]
hide! {
    crc_fast_checksum
    crc_fast_checksum_combine
    crc_fast_checksum_combine_with_params
    crc_fast_checksum_file
    crc_fast_checksum_file_with_params
    crc_fast_checksum_with_params
    crc_fast_clear_error
    crc_fast_crc32_iscsi
    crc_fast_crc32_iso_hdlc
    crc_fast_crc64_nvme
    crc_fast_digest_combine
    crc_fast_digest_finalize
    crc_fast_digest_finalize_reset
    crc_fast_digest_free
    crc_fast_digest_get_amount
    crc_fast_digest_get_state
    crc_fast_digest_new
    crc_fast_digest_new_with_init_state
    crc_fast_digest_new_with_params
    crc_fast_digest_reset
    crc_fast_digest_update
    crc_fast_error_message
    crc_fast_get_calculator_target
    crc_fast_get_custom_params
    crc_fast_get_last_error
    crc_fast_get_version
}
