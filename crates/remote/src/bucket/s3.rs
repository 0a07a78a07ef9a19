//! Buckets of S3: endpoint, region, addressing, credentials.

use std::path::PathBuf;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use object_store::ClientOptions;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredentialProvider};
use object_store::client::{HttpClient, HttpConnector};

use super::credentials::{Credentials, find};
use super::process::CredentialProcess;
use super::role::AssumedRole;
use super::sign_on::Portal;
use super::temporary_keys::TemporaryKeys;
use super::{Built, Recipe, Source, Variant, no_retries, unusable};
use crate::connector::{Connector, block_on};
use crate::explain::Service;
use crate::location::S3Target;
use crate::settings::{Addressing, Profiles, Settings, is_requester, parse_addressing};

/// Settings of the client of a bucket of S3.
#[derive(Debug)]
pub(crate) struct S3 {
    bucket: String,
    /// URL of an endpoint that is not the usual one of AWS.
    endpoint: Option<String>,
    region: String,
    addressing: Addressing,
    requester_pays: bool,
    credentials: Credentials,
    source: Source,
    metadata_endpoint: Option<String>,
    /// URL of the Security Token Service, if it is not that of AWS.
    sts_endpoint: Option<String>,
    /// URL of the portal of sign-ons, if it is not that of AWS.
    sso_endpoint: Option<String>,
    /// The folder in which the tool of AWS keeps the tokens of sign-ons.
    sso_cache: Option<PathBuf>,
}

impl S3 {
    /// Takes the settings together. Reads the files of AWS, and sends no request.
    pub(crate) fn new(target: &S3Target, settings: &Settings) -> Result<S3> {
        let environment = &settings.environment;
        let profiles = Profiles::read(settings)?;
        let profile = profiles.chosen(settings)?;
        let text = |key: &str| profile.get(key).map(str::to_string);
        // An endpoint that the settings name does not hold for URLs that name one themselves.
        let named = || {
            let set = settings.endpoint_url.clone();
            let set = set.or_else(|| environment.first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]));
            set.or_else(|| text("s3.endpoint_url")).or_else(|| text("endpoint_url"))
        };
        let is_of_aws_by_url = target.endpoint.is_none() && target.addressing.is_some();
        let endpoint = match is_of_aws_by_url {
            true => None,
            false => target.endpoint.clone().or_else(named),
        };
        let is_aws = endpoint.as_deref().is_none_or(|url| url.contains(".amazonaws.com"));
        let region = settings.region.clone().filter(|_| !target.is_google).or_else(|| target.region.clone());
        let region = region.or_else(|| environment.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]));
        let region = region.or_else(|| text("region")).unwrap_or_else(|| "us-east-1".to_string());
        let by_default = match is_aws && !target.bucket.contains('.') {
            true => Addressing::VirtualHost,
            false => Addressing::Path,
        };
        let in_profile = || parse_addressing(profile.get("s3.addressing_style")?)?;
        let addressing = settings.addressing.or(target.addressing).or_else(in_profile).unwrap_or(by_default);
        let pays = || environment.get("AWS_REQUEST_PAYER").is_some_and(|value| is_requester(&value));
        let (credentials, source) = find(settings, &profiles, &profile, is_aws)?;
        Ok(S3 {
            bucket: target.bucket.clone(),
            endpoint,
            region,
            addressing,
            requester_pays: settings.requester_pays.unwrap_or_else(pays),
            credentials,
            source,
            metadata_endpoint: environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
            sts_endpoint: environment.first(&["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"]),
            sso_endpoint: environment.first(&["AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL"]),
            sso_cache: environment.in_home(".aws/sso/cache"),
        })
    }

    /// Returns the URL of the endpoint, with the bucket if requests name it by the host.
    fn endpoint(&self, region: &str) -> String {
        let endpoint = self.endpoint.clone().unwrap_or_else(|| of_aws("s3", region));
        let endpoint = endpoint.trim_end_matches('/');
        match (self.addressing, endpoint.split_once("://")) {
            (Addressing::VirtualHost, Some((scheme, host))) => format!("{scheme}://{}.{host}", self.bucket),
            _ => endpoint.to_string(),
        }
    }
}

impl Recipe for S3 {
    fn service(&self) -> Service {
        Service::S3
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn build(&self, connector: Connector, variant: &Variant) -> Result<Built> {
        let region = variant.region.as_deref().unwrap_or(&self.region);
        let unsigned = Credentials::None;
        let credentials = if variant.is_unsigned { &unsigned } else { &self.credentials };
        let builder = AmazonS3Builder::new()
            .with_bucket_name(&self.bucket)
            .with_region(region)
            .with_endpoint(self.endpoint(region))
            .with_virtual_hosted_style_request(self.addressing == Addressing::VirtualHost)
            .with_allow_http(true)
            .with_disable_tagging(true)
            .with_disable_bulk_delete(true)
            .with_request_payer(self.requester_pays)
            .with_retry(no_retries())
            .with_http_connector(connector.clone());
        let builder = self.with_credentials(builder, credentials, &connector)?;
        let store = Arc::new(builder.build().map_err(|error| unusable(&self.bucket, &error))?);
        let credentials = store.credentials().clone();
        let check = Box::new(move || block_on(credentials.get_credential()).map(drop));
        Ok(Built { store, check })
    }
}

impl S3 {
    /// Sets the credentials of a client.
    fn with_credentials(
        &self,
        builder: AmazonS3Builder,
        credentials: &Credentials,
        connector: &Connector,
    ) -> Result<AmazonS3Builder> {
        use AmazonS3ConfigKey::{
            ContainerAuthorizationTokenFile, ContainerCredentialsFullUri, ContainerCredentialsRelativeUri,
            RoleArn, RoleSessionName, StsEndpoint, WebIdentityTokenFile,
        };
        let client = || -> Result<HttpClient> {
            connector.connect(&ClientOptions::default()).map_err(|error| unusable(&self.bucket, &error))
        };
        Ok(match credentials {
            Credentials::None => builder.with_skip_signature(true),
            Credentials::Keys { id, secret, token } => {
                let builder = builder.with_access_key_id(id).with_secret_access_key(secret.expose());
                match token {
                    Some(token) => builder.with_token(token.expose()),
                    None => builder,
                }
            }
            Credentials::WebIdentity { token_file, role, session } => {
                let mut builder =
                    builder.with_config(WebIdentityTokenFile, token_file).with_config(RoleArn, role);
                if let Some(session) = session {
                    builder = builder.with_config(RoleSessionName, session);
                }
                match &self.sts_endpoint {
                    Some(endpoint) => builder.with_config(StsEndpoint, endpoint),
                    None => builder,
                }
            }
            Credentials::Container { uri } => builder.with_config(ContainerCredentialsRelativeUri, uri),
            Credentials::Pod { uri, token_file } => builder
                .with_config(ContainerCredentialsFullUri, uri)
                .with_config(ContainerAuthorizationTokenFile, token_file),
            Credentials::Metadata => match &self.metadata_endpoint {
                Some(endpoint) => builder.with_metadata_endpoint(endpoint),
                None => builder,
            },
            Credentials::Role { role, base } => {
                let endpoint = self.sts_endpoint.clone().unwrap_or_else(|| of_aws("sts", &self.region));
                let (role, region) = (role.clone(), self.region.clone());
                let base = self.provider(base, connector)?;
                let issuer = AssumedRole { role, client: client()?, endpoint, region, base };
                builder.with_credentials(Arc::new(TemporaryKeys::new(issuer)))
            }
            Credentials::SignOn(sign_on) => {
                let usual = || of_aws("portal.sso", &sign_on.region);
                let endpoint = self.sso_endpoint.clone().unwrap_or_else(usual);
                let cache = self.sso_cache.clone();
                let issuer = Portal { sign_on: sign_on.clone(), client: client()?, endpoint, cache };
                builder.with_credentials(Arc::new(TemporaryKeys::new(issuer)))
            }
            Credentials::Process { command } => {
                builder.with_credentials(Arc::new(TemporaryKeys::new(CredentialProcess(command.clone()))))
            }
        })
    }

    /// Returns the provider of credentials that sign requests to other services than the bucket.
    fn provider(&self, credentials: &Credentials, connector: &Connector) -> Result<AwsCredentialProvider> {
        let builder = AmazonS3Builder::new()
            .with_bucket_name(&self.bucket)
            .with_region(&self.region)
            .with_retry(no_retries())
            .with_http_connector(connector.clone());
        let store = self.with_credentials(builder, credentials, connector)?.build();
        Ok(store.map_err(|error| unusable(&self.bucket, &error))?.credentials().clone())
    }
}

/// Returns the URL of a service of AWS in a region.
fn of_aws(service: &str, region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    format!("https://{service}.{region}.{domain}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use crate::location::{Target, parse};

    fn endpoint(url: &str, variables: &[(&str, &str)]) -> String {
        let settings =
            Settings { environment: Environment::of(variables.iter().copied()), ..Settings::default() };
        let (Target::S3(target), _) = parse(url, &settings).unwrap() else { panic!("{url} is not in S3") };
        let made = S3::new(&target, &settings).unwrap();
        made.endpoint(&made.region)
    }

    #[test]
    fn endpoints_follow_url_and_environment() {
        let own = ("AWS_ENDPOINT_URL", "http://localhost:9000/");
        let region = ("AWS_REGION", "eu-west-1");
        for (url, variables, expected) in [
            ("s3://b/k", &[][..], "https://b.s3.us-east-1.amazonaws.com"),
            ("s3://b/k", &[region], "https://b.s3.eu-west-1.amazonaws.com"),
            ("s3://b.c/k", &[region], "https://s3.eu-west-1.amazonaws.com"),
            ("s3://b/k", &[("AWS_DEFAULT_REGION", "cn-north-1")], "https://b.s3.cn-north-1.amazonaws.com.cn"),
            ("s3://b/k", &[own], "http://localhost:9000"),
            ("s3://b/k", &[own, ("AWS_ENDPOINT_URL_S3", "http://s3:1")], "http://s3:1"),
            ("gs3://b/k", &[own, region], "https://storage.googleapis.com"),
            ("https://s3.eu-west-3.amazonaws.com/b/k", &[own, region], "https://s3.eu-west-3.amazonaws.com"),
            ("https://b.s3.amazonaws.com/k", &[own, region], "https://b.s3.eu-west-1.amazonaws.com"),
        ] {
            assert_eq!(endpoint(url, variables), expected, "{url} {variables:?}");
        }
    }

    #[test]
    fn addressing_follows_the_settings() {
        let settings = Settings {
            addressing: Some(Addressing::VirtualHost),
            endpoint_url: Some("http://localhost:9000".to_string()),
            environment: Environment::of([]),
            ..Settings::default()
        };
        let target = S3Target { bucket: "b".to_string(), ..S3Target::default() };
        assert_eq!(S3::new(&target, &settings).unwrap().endpoint("r"), "http://b.localhost:9000");
    }
}
