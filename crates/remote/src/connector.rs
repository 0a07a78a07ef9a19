//! The connector that lets `object_store` send its requests through our client.
//!
//! `object_store` names buckets and keys, finds credentials and signs. Our client sends, retries and checks answers: the future of a
//! request is complete when it is first polled, so no runtime is needed, and no thread. Requests for bytes of objects are only
//! signed here: `object_store` takes no status 200 for a range, drops the headers of a 416, and reads to memory of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use ureq::http::Request;

use crate::http::{
    Cause, Client, Deadline, Failure, Refusal, SendOptions, Upload, current_deadline, is_repeatable,
    note_failure, redacted,
};

/// An extension of requests for bytes of objects: they are signed, and not sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignOnly(Arc<Mutex<Option<Request<()>>>>);

impl SignOnly {
    /// Returns the signed request; `None` if it was not made.
    pub(crate) fn take(&self) -> Option<Request<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Makes clients of `object_store` that send through ours.
#[derive(Clone, Debug)]
pub(crate) struct Connector(pub Arc<Client>);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(ClientService(self.0.clone())))
    }
}

#[derive(Debug)]
struct ClientService(Arc<Client>);

/// The error that `object_store` gets where the real one is reported another way.
#[derive(Debug)]
struct Reported;

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the request failed")
    }
}

impl std::error::Error for Reported {}

#[async_trait]
impl HttpService for ClientService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let client = &self.0;
        let reported = || HttpError::new(HttpErrorKind::Unknown, Reported);
        let deadline = current_deadline().unwrap_or_else(|| Deadline::after(client.options.deadline));
        let (parts, body) = request.into_parts();
        let mut head = Request::new(());
        *head.method_mut() = parts.method;
        *head.uri_mut() = parts.uri;
        *head.headers_mut() = parts.headers;
        if let Some(SignOnly(slot)) = parts.extensions.get::<SignOnly>() {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(head);
            return Err(reported());
        }
        let body = body.collect().await?.to_bytes();
        let has_body = matches!(head.method().as_str(), "PUT" | "POST");
        let how = SendOptions { deadline, is_repeatable: is_repeatable(&head), follows_redirects: false };
        let body = if has_body { Upload::Bytes(&body) } else { Upload::Nothing };
        match client.answer(&head, body, how) {
            Err(failure) => {
                note_failure(failure);
                Err(reported())
            }
            Ok(answer) => {
                if !(200..300).contains(&answer.status) {
                    note_failure(Failure {
                        method: head.method().to_string(),
                        url: redacted(head.uri()),
                        range: None,
                        attempts: 1,
                        cause: Cause::Status(Box::new(Refusal::new(
                            answer.status,
                            &answer.headers,
                            &answer.body,
                        ))),
                    });
                }
                let mut response = HttpResponse::new(HttpResponseBody::from(answer.body));
                *response.status_mut() = answer.status.try_into().map_err(|_| reported())?;
                *response.headers_mut() = answer.headers;
                Ok(response)
            }
        }
    }
}

/// Sends a request and returns the body of its answer.
///
/// # Errors
/// The reason in words. A request that fails is noted by the client too, with more words.
pub(crate) async fn body_of(client: &HttpClient, request: HttpRequest) -> Result<Bytes, String> {
    let response = client.execute(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("status {status}"));
    }
    let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
    Ok(body.to_bytes())
}

/// Wakes a thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread. It waits only for locks that other threads hold while they fetch credentials.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn future_that_another_thread_completes_is_waited_for() {
        let shared: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
        let other = shared.clone();
        let thread = std::thread::spawn(move || {
            loop {
                let mut state = other.lock().unwrap();
                if let Some(waker) = state.1.take() {
                    state.0 = true;
                    waker.wake();
                    return;
                }
                drop(state);
                std::thread::yield_now();
            }
        });
        let done = block_on(std::future::poll_fn(|context| {
            let mut state = shared.lock().unwrap();
            state.1 = Some(context.waker().clone());
            if state.0 { Poll::Ready(7) } else { Poll::Pending }
        }));
        assert_eq!(done, 7);
        thread.join().unwrap();
    }
}
