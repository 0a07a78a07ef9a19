//! Errors of stores: the code of netCDF, and advice.

use ferrocdf_bytes::{Code, Error};

use crate::http::{Cause, Failure, NO_ADDRESS, Refusal};

/// The protocol behind a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Http,
    S3,
    Gcs,
    Azure,
}

/// Authentication of the requests of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Signing {
    /// With credentials from this source.
    Signed(String),
    /// Not at all, because the user wants it so.
    Disabled,
    /// Not at all, because no credentials were found. The text says where they were looked for.
    NotFound(String),
}

/// Makes the error of a failed request for an object.
pub(crate) fn explain(service: Service, signing: &Signing, object: &str, failure: &Failure) -> Error {
    let hint = hint(service, signing, failure);
    let separator = if hint.is_empty() { "" } else { "; " };
    Error::new(code(service, failure), format!("{object}: {failure}{separator}{hint}"))
}

fn code(service: Service, failure: &Failure) -> Code {
    match &failure.cause {
        Cause::Transport(_) | Cause::Deadline(_) => Code::ECURL,
        Cause::Answer(_) => Code::EIO,
        Cause::Status(refusal) => match refusal.status {
            401 => Code::EAUTH,
            403 => Code::EACCESS,
            404 => Code::ENOOBJECT,
            _ if service == Service::S3 => Code::ES3,
            _ => Code::EIO,
        },
    }
}

fn hint(service: Service, signing: &Signing, failure: &Failure) -> String {
    let (Cause::Status(refusal), service) = (&failure.cause, service) else {
        return match (&failure.cause, service) {
            (Cause::Transport(what), Service::S3) if what.starts_with(NO_ADDRESS) => {
                "check the bucket and the endpoint (AWS_ENDPOINT_URL)".to_string()
            }
            _ => String::new(),
        };
    };
    let by_code = hint_of_code(service, signing, refusal);
    if !by_code.is_empty() {
        return by_code;
    }
    match (refusal.status, service, signing) {
        (301 | 307 | 400, Service::S3, _) => match &refusal.region {
            Some(region) => format!("the bucket is in the region {region}: set AWS_REGION"),
            None if refusal.status != 400 => {
                "set the region (AWS_REGION) or the endpoint (AWS_ENDPOINT_URL)".to_string()
            }
            None => String::new(),
        },
        (401 | 403, Service::Http, _) => {
            "set HTTP.CREDENTIALS.USERPASSWORD in .ncrc if the server asks for a user".to_string()
        }
        (401 | 403, _, Signing::NotFound(searched)) => {
            format!("the request was not signed, since no credentials were found ({searched})")
        }
        (401 | 403, _, Signing::Disabled) => "the request was not signed, as the settings say".to_string(),
        (403, Service::S3, Signing::Signed(source)) => format!(
            "the credentials ({source}) may lack the permission, the object may not exist in a bucket that they may not list, or the \
             bucket asks for AWS_REQUEST_PAYER=requester; for a public bucket set AWS_NO_SIGN_REQUEST=true"
        ),
        (401 | 403, _, Signing::Signed(source)) => format!("the credentials ({source}) lack the permission"),
        _ => String::new(),
    }
}

/// Returns the advice for a code of the server.
fn hint_of_code(service: Service, signing: &Signing, refusal: &Refusal) -> String {
    let source = match signing {
        Signing::Signed(source) => source,
        _ => "none",
    };
    match refusal.code.as_deref() {
        Some("InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken") => {
            format!(
                "check the keys ({source}) and the endpoint; for a public bucket set AWS_NO_SIGN_REQUEST=true"
            )
        }
        Some("ExpiredToken" | "TokenRefreshRequired") => {
            format!("the session token ({source}) has expired: get a new one")
        }
        Some("RequestTimeTooSkewed") => "set the clock of this machine".to_string(),
        Some("NoSuchBucket") if service == Service::S3 => {
            "check the bucket, the region and the endpoint (AWS_ENDPOINT_URL)".to_string()
        }
        Some("SlowDown" | "ServerBusy") => {
            "the server asks for fewer requests at once (FERROCDF_REMOTE_REQUESTS)".to_string()
        }
        Some("AuthorizationHeaderMalformed" | "PermanentRedirect") if refusal.region.is_none() => {
            "set the region of the bucket (AWS_REGION)".to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(service: Service, signing: &Signing, status: u16, code: Option<&str>) -> Error {
        let refusal = Refusal { status, code: code.map(str::to_string), ..Refusal::default() };
        let failure = Failure {
            method: "GET".to_string(),
            url: "https://h/b/k".to_string(),
            range: None,
            attempts: 1,
            cause: Cause::Status(Box::new(refusal)),
        };
        explain(service, signing, "s3://b/k", &failure)
    }

    #[test]
    fn statuses_have_the_codes_of_netcdf() {
        for (service, status, code) in [
            (Service::Http, 401, Code::EAUTH),
            (Service::S3, 403, Code::EACCESS),
            (Service::S3, 404, Code::ENOOBJECT),
            (Service::S3, 500, Code::ES3),
            (Service::Http, 500, Code::EIO),
        ] {
            assert_eq!(error(service, &Signing::Disabled, status, None).code, code, "{status}");
        }
    }

    #[test]
    fn hints_say_what_to_try() {
        let signed = Signing::Signed("AWS_ACCESS_KEY_ID".to_string());
        let missing = Signing::NotFound("environment and profiles".to_string());
        for (signing, status, code, hint) in [
            (&missing, 403, Some("AccessDenied"), "no credentials were found (environment and profiles)"),
            (&signed, 403, Some("AccessDenied"), "set AWS_NO_SIGN_REQUEST=true"),
            (&signed, 403, Some("ExpiredToken"), "the session token (AWS_ACCESS_KEY_ID) has expired"),
            (&signed, 403, Some("SignatureDoesNotMatch"), "check the keys (AWS_ACCESS_KEY_ID)"),
            (&signed, 503, Some("SlowDown"), "FERROCDF_REMOTE_REQUESTS"),
            (&signed, 404, Some("NoSuchBucket"), "AWS_ENDPOINT_URL"),
            (&signed, 301, Some("PermanentRedirect"), "AWS_REGION"),
        ] {
            let error = error(Service::S3, signing, status, code);
            assert!(error.what.contains(hint), "{error}");
            assert!(error.what.starts_with(&format!("s3://b/k: GET https://h/b/k: {status} ")), "{error}");
        }
    }
}
