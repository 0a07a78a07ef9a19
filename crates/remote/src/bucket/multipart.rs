//! Large objects, put in parts side by side. The object appears when the last part is there.

use std::sync::Mutex;

use ferrocdf_bytes::Result;
use ferrocdf_store::Version;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload, UploadPart};

use super::{Bucket, OperationError, operation_error, version};
use crate::connector::block_on;
use crate::http::{Deadline, within};
use crate::transfer::in_parallel;

/// Smallest size of a part: the overhead of a request is small beside it.
const PART: u64 = 16 << 20;

/// Largest number of parts that S3 takes.
const PARTS: u64 = 10_000;

/// Parts that are in memory and sent at once.
const AT_ONCE: usize = 4;

impl Bucket {
    /// Puts an object of `size` bytes, which `read` returns from a position on.
    pub(crate) fn put_parts(
        &self,
        key: &str,
        size: u64,
        read: &mut dyn FnMut(u64, usize) -> Result<Vec<u8>>,
        deadline: Deadline,
    ) -> Result<Version> {
        let path = self.path(key)?;
        let service = self.recipe.service();
        let mut upload = self.operate(key, |state| {
            let (begun, failure) = within(deadline, || block_on(state.store.put_multipart(&path)));
            begun.map_err(|error| operation_error(&error, failure))
        })?;
        let part = PART.max(size.div_ceil(PARTS)).next_multiple_of(1 << 20);
        let state = self.state()?;
        let explain = |error| self.explain(key, &state, error);
        let done = send_parts(&mut *upload, size, part, read, deadline).and_then(|sent| {
            sent.map_err(explain)?;
            let (completed, failure) = within(deadline, || block_on(upload.complete()));
            completed.map_err(|error| explain(operation_error(&error, failure)))
        });
        match done {
            Ok(result) => version(service, result).map_err(explain),
            Err(error) => {
                // Parts of an upload that nobody ends cost money. If this fails too, the first error is the one to report.
                let _ = within(deadline, || block_on(upload.abort()));
                Err(error)
            }
        }
    }
}

/// Sends all parts. The outer error is of `read`, the inner one of a request.
fn send_parts(
    upload: &mut dyn MultipartUpload,
    size: u64,
    part: u64,
    read: &mut dyn FnMut(u64, usize) -> Result<Vec<u8>>,
    deadline: Deadline,
) -> Result<std::result::Result<(), OperationError>> {
    let mut at = 0;
    while at < size {
        let mut batch: Vec<Mutex<Option<UploadPart>>> = Vec::new();
        while at < size && batch.len() < AT_ONCE {
            let len = part.min(size - at);
            let bytes = read(at, len as usize)?;
            batch.push(Mutex::new(Some(upload.put_part(PutPayload::from(bytes)))));
            at += len;
        }
        let sent = in_parallel(&batch, AT_ONCE, |part| {
            let Some(part) = part.lock().ok().and_then(|mut part| part.take()) else { return Ok(()) };
            let (sent, failure) = within(deadline, || block_on(part));
            sent.map_err(|error| operation_error(&error, failure))
        });
        if let Some(error) = sent.into_iter().find_map(std::result::Result::err) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}
