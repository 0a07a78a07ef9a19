//! Forwarding methods of [`Blob`](crate::Blob) and [`BlobMut`](crate::BlobMut), each written down once.

/// Implements methods by calling the same methods of another blob: `forward!([.inner] name cost)` for the blob in the field
/// `inner` of `self`. `suite::forwards_reads` and
/// `suite::forwards_writes` tell whether a wrapper forgot one.
#[macro_export]
macro_rules! forward {
    ($inner:tt $($method:ident)+) => { $($crate::forward!(@ $inner $method);)+ };
    (@ [$($inner:tt)+] size) => {
        fn size(&self) -> ferrocdf_bytes::Result<u64> {
            (*self)$($inner)+.size()
        }
    };
    (@ [$($inner:tt)+] read_at) => {
        fn read_at(&self, at: u64, into: &mut [u8]) -> ferrocdf_bytes::Result<usize> {
            (*self)$($inner)+.read_at(at, into)
        }
    };
    (@ [$($inner:tt)+] read_many) => {
        fn read_many(&self, requests: &mut [$crate::ReadRequest<'_>]) -> ferrocdf_bytes::Result<()> {
            (*self)$($inner)+.read_many(requests)
        }
    };
    (@ [$($inner:tt)+] read_suffix) => {
        fn read_suffix(&self, into: &mut [u8]) -> ferrocdf_bytes::Result<$crate::Suffix> {
            (*self)$($inner)+.read_suffix(into)
        }
    };
    (@ [$($inner:tt)+] name) => {
        fn name(&self) -> String {
            (*self)$($inner)+.name()
        }
    };
    (@ [$($inner:tt)+] forget) => {
        fn forget(&self) {
            (*self)$($inner)+.forget();
        }
    };
    (@ [$($inner:tt)+] expect_pages) => {
        fn expect_pages(&self, bytes: u64) {
            (*self)$($inner)+.expect_pages(bytes);
        }
    };
    (@ [$($inner:tt)+] change_token) => {
        fn change_token(&self) -> Option<$crate::ChangeToken> {
            (*self)$($inner)+.change_token()
        }
    };
    (@ [$($inner:tt)+] cost) => {
        fn cost(&self) -> $crate::Cost {
            (*self)$($inner)+.cost()
        }
    };
    (@ [$($inner:tt)+] is_nameless) => {
        fn is_nameless(&self) -> bool {
            (*self)$($inner)+.is_nameless()
        }
    };
    (@ [$($inner:tt)+] write_at) => {
        fn write_at(&self, at: u64, from: &[u8]) -> ferrocdf_bytes::Result<()> {
            (*self)$($inner)+.write_at(at, from)
        }
    };
    (@ [$($inner:tt)+] set_size) => {
        fn set_size(&self, size: u64) -> ferrocdf_bytes::Result<()> {
            (*self)$($inner)+.set_size(size)
        }
    };
    (@ [$($inner:tt)+] flush) => {
        fn flush(&self) -> ferrocdf_bytes::Result<()> {
            (*self)$($inner)+.flush()
        }
    };
    (@ [$($inner:tt)+] sync) => {
        fn sync(&self) -> ferrocdf_bytes::Result<()> {
            (*self)$($inner)+.sync()
        }
    };
    (@ [$($inner:tt)+] keeps_holes) => {
        fn keeps_holes(&self) -> bool {
            (*self)$($inner)+.keeps_holes()
        }
    };
    (@ [$($inner:tt)+] replace) => {
        fn replace(&self, write: &mut $crate::Writes<'_>) -> ferrocdf_bytes::Result<bool> {
            (*self)$($inner)+.replace(write)
        }
    };
}
