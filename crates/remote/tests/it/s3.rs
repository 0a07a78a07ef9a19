//! The requests of S3 that name more than an object: listings, and uploads in parts. Buckets are the first name of a path.

use std::collections::BTreeSet;

use crate::server::{Reply, Seen, State, decode};

/// Answers a request with a query of S3; `None` for other requests.
pub fn answer(state: &mut State, seen: &Seen, path: &str, body: &[u8]) -> Option<Reply> {
    let (_, query) = seen.target.split_once('?')?;
    let pairs: Vec<(String, String)> = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(&value.replace('+', " "))))
        .collect();
    let get = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    match (seen.method.as_str(), get("uploadId"), get("partNumber")) {
        ("GET", ..) if get("list-type") == Some("2") => {
            let page = get("continuation-token").unwrap_or("0").parse().unwrap();
            Some(list(state, path, get("prefix").unwrap_or_default(), get("delimiter"), page))
        }
        ("POST", None, _) if get("uploads").is_some() => {
            let id = format!("u{}", state.uploads.len());
            state.uploads.insert(id.clone(), Default::default());
            let text = format!(
                "<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            );
            Some(Reply::new(200).body(text))
        }
        ("PUT", Some(id), Some(part)) => match state.uploads.get_mut(id) {
            None => Some(Reply::new(404)),
            Some(parts) => {
                parts.insert(part.parse().unwrap(), body.to_vec());
                Some(Reply::new(200).with("etag", format!("\"p{part}\"")))
            }
        },
        ("POST", Some(id), _) => {
            let Some(parts) = state.uploads.remove(id) else { return Some(Reply::new(404)) };
            let bytes = parts.into_values().flatten().collect();
            let etag = state.put(path, bytes);
            let text = format!(
                "<CompleteMultipartUploadResult><Location>l</Location><Bucket>b</Bucket><Key>k</Key><ETag>{}</ETag></CompleteMultipartUploadResult>",
                etag.replace('"', "&quot;")
            );
            Some(Reply::new(200).body(text))
        }
        ("DELETE", Some(id), _) => {
            state.uploads.remove(id);
            Some(Reply::new(204))
        }
        _ => None,
    }
}

/// Entries on a page of a listing: few, so that tests see several.
const PAGE: usize = 2;

fn list(state: &State, path: &str, prefix: &str, delimiter: Option<&str>, page: usize) -> Reply {
    let bucket = format!("{}/", path.trim_end_matches('/'));
    let mut entries = BTreeSet::new();
    for key in state.objects.keys().filter_map(|key| key.strip_prefix(&bucket)) {
        let Some(rest) = key.strip_prefix(prefix) else { continue };
        match delimiter.and_then(|delimiter| rest.find(delimiter)) {
            Some(end) => entries.insert((format!("{prefix}{}", &rest[..=end]), true)),
            None => entries.insert((key.to_string(), false)),
        };
    }
    let mut text = "<?xml version=\"1.0\"?><ListBucketResult>".to_string();
    for (name, is_folder) in entries.iter().skip(page * PAGE).take(PAGE) {
        let name = name.replace('&', "&amp;").replace('<', "&lt;");
        text += &match is_folder {
            true => format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"),
            false => format!(
                "<Contents><Key>{name}</Key><Size>0</Size><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>x</ETag></Contents>"
            ),
        };
    }
    if entries.len() > (page + 1) * PAGE {
        text += &format!("<NextContinuationToken>{}</NextContinuationToken>", page + 1);
    }
    Reply::new(200).body(text + "</ListBucketResult>")
}
