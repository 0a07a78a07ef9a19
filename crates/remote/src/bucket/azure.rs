//! Containers of Azure. Credentials are looked for in the variables `AZURE_*` (a key, a shared access signature, an application, a
//! connection string), and in the metadata service of the machine.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::{Built, Recipe, Source, Variant, no_retries, unusable};
use crate::connector::{Connector, block_on};
use crate::explain::Service;
use crate::settings::{Settings, Variables, parse_flag};

/// Settings of the client of a container.
#[derive(Debug)]
pub(crate) struct Azure {
    account: String,
    container: String,
    variables: Variables,
    source: Source,
}

impl Azure {
    pub(crate) fn new(account: Option<&str>, container: &str, settings: &Settings) -> Result<Azure> {
        let environment = &settings.environment;
        let mut variables = environment.with_prefix("AZURE_");
        if let Some(connection) = environment.get("AZURE_STORAGE_CONNECTION_STRING") {
            variables.0.extend(parse_connection(&connection));
        }
        let find = |names: &[&str]| {
            let found = names.iter().find_map(|name| variables.0.iter().find(|(known, _)| known == name));
            found.map(|(_, value)| value.clone())
        };
        let in_environment = || find(&["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"]);
        let emulated =
            find(&["AZURE_STORAGE_USE_EMULATOR"]).and_then(|value| parse_flag(&value)) == Some(true);
        let account = account.map(str::to_string).or_else(|| settings.azure_account.clone());
        let account =
            account.or_else(in_environment).or_else(|| emulated.then(|| "devstoreaccount1".to_string()));
        let Some(account) = account else {
            let what = format!(
                "az://{container}: no storage account is known; set AZURE_STORAGE_ACCOUNT_NAME, or write \
                 az://container@account.blob.core.windows.net/key"
            );
            return Err(Error::new(Code::EAUTH, what));
        };
        let names = [
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_ACCESS_KEY",
            "AZURE_STORAGE_KEY",
            "AZURE_STORAGE_SAS_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_STORAGE_TOKEN",
            "AZURE_CLIENT_SECRET",
            "AZURE_STORAGE_CLIENT_SECRET",
            "AZURE_FEDERATED_TOKEN_FILE",
            "AZURE_STORAGE_USE_EMULATOR",
        ];
        let named = names.iter().find(|name| find(&[name]).is_some());
        let is_disabled = find(&["AZURE_SKIP_SIGNATURE"]).and_then(|value| parse_flag(&value)) == Some(true);
        let source = match named {
            _ if settings.no_sign_request.unwrap_or(is_disabled) => Source::Disabled,
            Some(name) => Source::Named(name.to_string()),
            None => Source::Metadata("looked for AZURE_STORAGE_ACCOUNT_KEY and its kin".to_string()),
        };
        Ok(Azure { account, container: container.to_string(), variables, source })
    }
}

/// Returns the parts of a connection string as the variables that they stand for.
fn parse_connection(text: &str) -> Vec<(String, String)> {
    let names = [
        ("AccountName", "AZURE_STORAGE_ACCOUNT_NAME"),
        ("AccountKey", "AZURE_STORAGE_ACCOUNT_KEY"),
        ("SharedAccessSignature", "AZURE_STORAGE_SAS_TOKEN"),
        ("BlobEndpoint", "AZURE_STORAGE_ENDPOINT"),
    ];
    let parts = text.split(';').filter_map(|part| part.split_once('='));
    let known = parts.filter_map(|(name, value)| {
        let (_, variable) = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()))?;
        Some((variable.to_string(), value.trim().to_string()))
    });
    known.collect()
}

impl Recipe for Azure {
    fn service(&self) -> Service {
        Service::Azure
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn build(&self, connector: Connector, variant: &Variant) -> Result<Built> {
        let mut builder = MicrosoftAzureBuilder::new();
        for (name, value) in &self.variables.0 {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder
            .with_account(&self.account)
            .with_container_name(&self.container)
            .with_skip_signature(variant.is_unsigned)
            .with_disable_tagging(true)
            .with_allow_http(true)
            .with_retry(no_retries())
            .with_http_connector(connector);
        let store = Arc::new(builder.build().map_err(|error| unusable(&self.container, &error))?);
        let credentials = store.credentials().clone();
        let check = Box::new(move || block_on(credentials.get_credential()).map(drop));
        Ok(Built { store, check })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    #[test]
    fn account_comes_from_url_settings_and_environment() {
        let connection = "DefaultEndpointsProtocol=https;AccountName=conn;AccountKey=a2V5==;";
        let with = |account, variables: &[(&str, &str)]| {
            let environment = Environment::of(variables.iter().copied());
            Azure::new(account, "c", &Settings { environment, ..Settings::default() })
        };
        let variable = ("AZURE_STORAGE_ACCOUNT", "env");
        assert_eq!(with(Some("url"), &[variable]).unwrap().account, "url");
        assert_eq!(with(None, &[variable]).unwrap().account, "env");
        let connected = with(None, &[("AZURE_STORAGE_CONNECTION_STRING", connection)]).unwrap();
        assert_eq!(connected.account, "conn");
        assert_eq!(connected.source, Source::Named("AZURE_STORAGE_ACCOUNT_KEY".to_string()));
        assert!(!format!("{connected:?}").contains("a2V5"));
        assert_eq!(with(None, &[]).unwrap_err().code, Code::EAUTH);
    }
}
