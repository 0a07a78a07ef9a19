//! Buckets of Google Cloud Storage. Credentials are looked for in the variables `GOOGLE_*` (a service account, application
//! credentials), in the file of `gcloud auth application-default login`, and in the metadata service of the machine.

use std::sync::Arc;

use ferrocdf_bytes::Result;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};

use super::{Built, Recipe, Source, Variant, no_retries, unusable};
use crate::connector::{Connector, block_on};
use crate::explain::Service;
use crate::settings::{Settings, Variables, parse_flag};

/// Settings of the client of a bucket.
#[derive(Debug)]
pub(crate) struct Gcs {
    bucket: String,
    variables: Variables,
    endpoint: Option<String>,
    source: Source,
}

impl Gcs {
    pub(crate) fn new(bucket: &str, settings: &Settings) -> Gcs {
        let environment = &settings.environment;
        let variables = environment.with_prefix("GOOGLE_");
        let names = [
            "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_PATH",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_BEARER_TOKEN",
        ];
        let named = names.iter().find(|name| environment.get(name).is_some());
        let login = ".config/gcloud/application_default_credentials.json";
        let is_disabled = ["GOOGLE_SKIP_SIGNATURE", "AWS_NO_SIGN_REQUEST"]
            .iter()
            .any(|name| environment.get(name).is_some_and(|value| parse_flag(&value) == Some(true)));
        let source = match named {
            _ if settings.no_sign_request.unwrap_or(is_disabled) => Source::Disabled,
            Some(name) => Source::Named(name.to_string()),
            None if environment.in_home(login).is_some_and(|path| path.is_file()) => {
                Source::Named(format!("~/{login}"))
            }
            None => Source::Metadata(
                "looked for GOOGLE_APPLICATION_CREDENTIALS and a login of gcloud".to_string(),
            ),
        };
        let endpoint = environment.first(&["GOOGLE_BASE_URL", "STORAGE_EMULATOR_HOST"]);
        let endpoint = endpoint.map(|url| if url.contains("://") { url } else { format!("http://{url}") });
        Gcs { bucket: bucket.to_string(), variables, endpoint, source }
    }
}

impl Recipe for Gcs {
    fn service(&self) -> Service {
        Service::Gcs
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn build(&self, connector: Connector, variant: &Variant) -> Result<Built> {
        let mut builder = GoogleCloudStorageBuilder::new();
        for (name, value) in &self.variables.0 {
            if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder
            .with_bucket_name(&self.bucket)
            .with_skip_signature(variant.is_unsigned)
            .with_retry(no_retries())
            .with_http_connector(connector);
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_base_url(endpoint.trim_end_matches('/'));
        }
        let store = Arc::new(builder.build().map_err(|error| unusable(&self.bucket, &error))?);
        let credentials = store.credentials().clone();
        let check = Box::new(move || block_on(credentials.get_credential()).map(drop));
        Ok(Built { store, check })
    }
}
