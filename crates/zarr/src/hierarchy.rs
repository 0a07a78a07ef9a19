//! The groups and arrays of a store: found through consolidated metadata, or level by level.
//!
//! All nodes of a level are requested at once, so a slow store takes as many rounds as the hierarchy is deep. What cannot be read is a
//! node with the reason, and never hides the others.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::Codecs;
use ferrocdf_store::{ByteRange, Cost, Fetched, Store, Version as ObjectVersion};

use crate::json::{Json, Members};
use crate::metadata::{ArrayMetadata, Version, excerpt, group, invalid, within};

/// The groups and arrays of a store, or of a part of it.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The version of the format.
    pub version: Version,
    /// The outermost group, or the only array.
    pub root: Node,
    /// True if the metadata of all nodes came from one object.
    pub is_consolidated: bool,
    /// The member `record_size` of consolidated metadata of version 2, which tells that chunks are references in tables of so many rows; 0 for
    /// a value that is no number of rows.
    pub record_size: Option<u64>,
    /// The versions of the documents that were read, by their keys; only of [`Hierarchy::open_each`].
    pub versions: HashMap<String, ObjectVersion>,
    /// The nodes of consolidated metadata, as it was before the documents were read; only of [`Hierarchy::open_each`].
    pub consolidated: Members,
}

/// A group or an array.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name; empty for the root.
    pub name: String,
    /// Its key in the store, without a slash at the end.
    pub path: String,
    /// Its attributes.
    pub attributes: Members,
    /// Its metadata: `.zgroup`, `.zarray` or `zarr.json`.
    pub metadata: Json,
    /// What it is.
    pub content: Content,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Content {
    /// A group of nodes, in the order of their names.
    Group(Vec<Node>),
    /// An array.
    Array(Box<ArrayMetadata>),
    /// The metadata cannot be read, for this reason.
    Unreadable(Error),
}

/// Returns the names of the nodes in a group whose attributes or metadata list them; `None` for a group that is to be listed.
pub type ChildNames<'a> = dyn Fn(&Members) -> Option<Vec<String>> + 'a;

/// Most bytes of metadata in one object.
const MAX_METADATA: u64 = 128 << 20;

/// Greatest depth of groups within groups.
const MAX_DEPTH: usize = 100;

/// Most folders that are looked into to find out whether a folder without metadata holds arrays.
const MAX_FOLDERS: usize = 1000;

const ZARR_JSON: &str = "zarr.json";
const ZGROUP: &str = ".zgroup";
const ZARRAY: &str = ".zarray";
const ZATTRS: &str = ".zattrs";
const ZMETADATA: &str = ".zmetadata";

/// The documents of one node.
#[derive(Default)]
struct Documents {
    /// `.zarray`, `.zgroup` or `zarr.json`.
    metadata: Option<Json>,
    is_array: bool,
    /// `.zattrs`
    attributes: Option<Json>,
    /// Why a document cannot be read.
    failed: Option<Error>,
}

/// The documents of all nodes, by path relative to the root.
type Nodes = BTreeMap<String, Documents>;

impl Hierarchy {
    /// Opens the group or array at a path of a store; `None` if the path has no Zarr metadata. A folder without metadata in which arrays of
    /// version 2 lie is a group.
    ///
    /// # Errors
    /// Those of the store; `NC_EZARRMETA` if the metadata of the root, or consolidated metadata, cannot be read.
    pub fn open(
        store: &dyn Store,
        path: &str,
        child_names: &ChildNames<'_>,
        codecs: &Codecs,
    ) -> Result<Option<Hierarchy>> {
        let walk = Walk { store, path, child_names, codecs, versions: RefCell::default() };
        if let Some(root) = walk.document(ZARR_JSON)? {
            return walk.open_v3(root).map(Some);
        }
        if let Some(metadata) = walk.document(ZMETADATA)? {
            let nodes = consolidated_v2(&metadata).map_err(|error| error.at(walk.key("", ZMETADATA)))?;
            let record_size = record_size(&metadata);
            let hierarchy = walk.hierarchy(Version::V2, nodes, true)?;
            return Ok(Some(Hierarchy { record_size, ..hierarchy }));
        }
        let mut nodes = Nodes::new();
        walk.read_level(Version::V2, &[String::new()], &mut nodes)?;
        if nodes.is_empty() {
            return walk.folder_of_arrays();
        }
        walk.descend(Version::V2, &mut nodes)?;
        walk.hierarchy(Version::V2, nodes, false).map(Some)
    }

    /// Opens the group or array at a path of a store from the documents of each node, as a writer must: consolidated metadata, and lists
    /// of names, do not tell what other programs did since they were written.
    ///
    /// # Errors
    /// Those of the store; `NC_EZARRMETA` if the metadata of the root cannot be read.
    pub fn open_each(store: &dyn Store, path: &str, codecs: &Codecs) -> Result<Option<Hierarchy>> {
        let walk = Walk { store, path, child_names: &|_| None, codecs, versions: RefCell::default() };
        for (version, document) in [(Version::V3, ZARR_JSON), (Version::V2, ZGROUP), (Version::V2, ZARRAY)] {
            let Some(root) = walk.document(document)? else { continue };
            let all = match version {
                Version::V3 => root.get("consolidated_metadata").filter(|json| **json != Json::Null).cloned(),
                Version::V2 => walk.document(ZMETADATA)?,
            };
            let is_consolidated = all.is_some();
            let record_size = all.as_ref().filter(|_| version == Version::V2).and_then(record_size);
            let consolidated = all.as_ref().and_then(|all| all.get("metadata")).and_then(Json::as_object);
            let consolidated = consolidated.cloned().unwrap_or_default();
            let mut nodes = Nodes::new();
            walk.read_level(version, &[String::new()], &mut nodes)?;
            walk.descend(version, &mut nodes)?;
            let hierarchy = walk.hierarchy(version, nodes, is_consolidated)?;
            return Ok(Some(Hierarchy {
                record_size,
                versions: walk.versions.into_inner(),
                consolidated,
                ..hierarchy
            }));
        }
        Ok(None)
    }
}

/// What a walk through a store needs to know.
struct Walk<'a> {
    store: &'a dyn Store,
    path: &'a str,
    child_names: &'a ChildNames<'a>,
    codecs: &'a Codecs,
    /// The versions of the documents that were read, by their keys.
    versions: RefCell<HashMap<String, ObjectVersion>>,
}

impl Walk<'_> {
    /// Returns the key of a document of a node; both may be empty.
    fn key(&self, node: &str, document: &str) -> String {
        let parts = [self.path, node, document];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// Returns the range of a document. A file of the system may have more bytes than the disk holds; of other stores a request without a
    /// range is the simplest one.
    fn whole(&self) -> ByteRange {
        match self.store.cost() == Cost::LOCAL {
            true => ByteRange::Bounded { start: 0, len: MAX_METADATA },
            false => ByteRange::All,
        }
    }

    /// Reads a document of the root.
    fn document(&self, name: &str) -> Result<Option<Json>> {
        let key = self.key("", name);
        self.store.get(&key, self.whole())?.map(|found| self.parse(found, &key)).transpose()
    }

    fn parse(&self, found: Fetched, key: &str) -> Result<Json> {
        if found.total > MAX_METADATA {
            let what = format!("{key}: {} bytes of metadata, more than {MAX_METADATA}", found.total);
            return Err(invalid(what));
        }
        let found = found.check(key, ByteRange::All)?;
        self.versions.borrow_mut().insert(key.to_string(), found.version);
        Json::parse(&found.bytes).map_err(|error| error.at(key))
    }

    /// Opens a folder as a group of version 2 if it has no metadata of its own, and an array lies in it. Returns `None` if the store lists
    /// no arrays there.
    fn folder_of_arrays(&self) -> Result<Option<Hierarchy>> {
        let version = Version::V2;
        let mut nodes = Nodes::new();
        // Whatever goes wrong here, the folder is no store.
        let Ok(listing) = self.store.list(&self.key("", "")) else { return Ok(None) };
        let folders: Vec<String> =
            listing.folders.into_iter().filter(|name| is_name(name)).take(MAX_FOLDERS).collect();
        if self.read_level(version, &folders, &mut nodes).is_err()
            || !nodes.values().any(|documents| documents.is_array)
        {
            return Ok(None);
        }
        nodes.insert(String::new(), Documents { metadata: Some(group(version)), ..Documents::default() });
        self.descend(version, &mut nodes)?;
        self.hierarchy(version, nodes, false).map(Some)
    }

    fn open_v3(&self, root: Json) -> Result<Hierarchy> {
        let inline = root.get("consolidated_metadata").filter(|json| **json != Json::Null);
        let inline =
            inline.map(|json| consolidated_v3(json).map_err(|error| error.at(self.key("", ZARR_JSON))));
        let is_array = root.get("node_type").and_then(Json::as_str) == Some("array");
        let is_consolidated = inline.is_some();
        let mut nodes = inline.transpose()?.unwrap_or_default();
        nodes.insert(String::new(), Documents { is_array, metadata: Some(root), ..Documents::default() });
        if !is_consolidated {
            self.descend(Version::V3, &mut nodes)?;
        }
        self.hierarchy(Version::V3, nodes, is_consolidated)
    }

    /// Reads the nodes within the root, level by level.
    fn descend(&self, version: Version, nodes: &mut Nodes) -> Result<()> {
        let mut groups = vec![String::new()];
        for _ in 0..MAX_DEPTH {
            let (mut wanted, mut unnamed) = (vec![], vec![]);
            let mut want = |group: &str, names: Vec<String>| {
                wanted
                    .extend(names.into_iter().filter(|name| is_name(name)).map(|name| within(group, &name)));
            };
            for group in &groups {
                let Some(documents) = nodes.get(group).filter(|documents| !documents.is_array) else {
                    continue;
                };
                if documents.metadata.is_none() {
                    continue;
                }
                match (self.child_names)(&documents.attributes(version)) {
                    Some(names) => want(group, names),
                    None => unnamed.push((group, self.key(group, ""))),
                }
            }
            // All groups of a level in one round.
            let keys: Vec<&str> = unnamed.iter().map(|(_, key)| &**key).collect();
            for ((group, _), listing) in unnamed.iter().zip(self.store.list_many(&keys)) {
                want(group, listing?.folders);
            }
            // A list may name a node more than once.
            wanted.sort();
            wanted.dedup();
            if wanted.is_empty() {
                return Ok(());
            }
            self.read_level(version, &wanted, nodes)?;
            groups = wanted;
        }
        Err(invalid(format!("{}: more than {MAX_DEPTH} groups within each other", self.store.name())))
    }

    /// Reads the documents of nodes, all at once.
    fn read_level(&self, version: Version, paths: &[String], nodes: &mut Nodes) -> Result<()> {
        let names: &[&str] = match version {
            Version::V2 => &[ZARRAY, ZGROUP, ZATTRS],
            Version::V3 => &[ZARR_JSON],
        };
        let keys: Vec<String> =
            paths.iter().flat_map(|path| names.iter().map(|name| self.key(path, name))).collect();
        let requests: Vec<_> = keys.iter().map(|key| (&**key, self.whole())).collect();
        let mut answers = self.store.get_many(&requests).into_iter().zip(&keys);
        for path in paths {
            let mut documents = Documents::default();
            for name in names {
                let Some((answer, key)) = answers.next() else { break };
                match answer.and_then(|found| found.map(|found| self.parse(found, key)).transpose()) {
                    Ok(Some(json)) => documents.take(name, json),
                    Ok(None) => {}
                    Err(error) if self.is_of_one_node(&error) => documents.failed = Some(error),
                    // What the network refuses is no damage of one node.
                    Err(error) => return Err(error),
                }
            }
            if documents.metadata.is_some() || documents.failed.is_some() {
                nodes.insert(path.clone(), documents);
            }
        }
        Ok(())
    }

    /// True if an error of one document leaves the others readable: it is no metadata, or not in the folder of the store, but behind a
    /// link for example. An access that a network refuses is an error of the whole.
    fn is_of_one_node(&self, error: &Error) -> bool {
        error.code == Code::EZARRMETA || (error.code == Code::EACCESS && self.store.cost().is_near())
    }

    /// Makes the tree of the nodes.
    fn hierarchy(&self, version: Version, mut nodes: Nodes, is_consolidated: bool) -> Result<Hierarchy> {
        add_implicit_groups(version, &mut nodes);
        // From the last path to the first one, so that a group comes after all that lies in it.
        let mut children: HashMap<String, Vec<Node>> = HashMap::new();
        for (path, documents) in nodes.into_iter().rev() {
            let name = path.rsplit('/').next().unwrap_or_default();
            let mut node = documents.node(version, name, self.key(&path, ""), self.codecs);
            if let Content::Group(nodes) = &mut node.content {
                *nodes = children.remove(&path).unwrap_or_default();
                nodes.sort_by(|a, b| a.name.cmp(&b.name));
            }
            if path.is_empty() {
                if let Content::Unreadable(error) = node.content {
                    return Err(error.at(self.key("", "")));
                }
                return Ok(Hierarchy {
                    version,
                    root: node,
                    is_consolidated,
                    record_size: None,
                    versions: HashMap::new(),
                    consolidated: Members::default(),
                });
            }
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            children.entry(parent.to_string()).or_default().push(node);
        }
        Err(invalid(format!("{}: the metadata has no root", self.key("", ZMETADATA))))
    }
}

impl Documents {
    fn take(&mut self, name: &str, json: Json) {
        match name {
            ZATTRS => self.attributes = Some(json),
            // An array that is called a group too is an array.
            ZGROUP if self.is_array => {}
            _ => {
                self.is_array = match name {
                    ZARR_JSON => json.get("node_type").and_then(Json::as_str) == Some("array"),
                    name => name == ZARRAY,
                };
                self.metadata = Some(json);
            }
        }
    }

    fn attributes(&self, version: Version) -> Members {
        let attributes = match version {
            Version::V2 => self.attributes.as_ref(),
            Version::V3 => self.metadata.as_ref().and_then(|json| json.get("attributes")),
        };
        attributes.and_then(Json::as_object).cloned().unwrap_or_default()
    }

    fn node(self, version: Version, name: &str, path: String, codecs: &Codecs) -> Node {
        let attributes = self.attributes(version);
        let metadata = self.metadata.unwrap_or(Json::Null);
        let content = match self.failed {
            Some(error) => Content::Unreadable(error),
            None if self.is_array => match ArrayMetadata::parse(version, &metadata, codecs) {
                Ok(array) => Content::Array(Box::new(array)),
                Err(error) => Content::Unreadable(error),
            },
            None => match check_group(version, &metadata) {
                Ok(()) => Content::Group(vec![]),
                Err(error) => Content::Unreadable(error),
            },
        };
        Node { name: name.to_string(), path, attributes, metadata, content }
    }
}

/// Checks the metadata of a group.
fn check_group(version: Version, json: &Json) -> Result<()> {
    let (format, has_type) = match version {
        Version::V2 => (2, true),
        Version::V3 => (3, json.get("node_type").and_then(Json::as_str) == Some("group")),
    };
    if json.get("zarr_format").and_then(Json::as_u64) != Some(format) {
        return Err(invalid(format!("\"zarr_format\" is not {format}, in {}", excerpt(json))));
    }
    match has_type {
        true => Ok(()),
        false => {
            Err(invalid(format!("\"node_type\" is neither \"group\" nor \"array\", in {}", excerpt(json))))
        }
    }
}

/// Adds the groups around nodes that have no metadata of their own, except for the root.
fn add_implicit_groups(version: Version, nodes: &mut Nodes) {
    let mut absent = vec![];
    for path in nodes.keys() {
        let mut path = &**path;
        while let Some((parent, _)) = path.rsplit_once('/') {
            if nodes.contains_key(parent) {
                break;
            }
            absent.push(parent.to_string());
            path = parent;
        }
    }
    for path in absent {
        nodes.insert(path, Documents { metadata: Some(group(version)), ..Documents::default() });
    }
}

/// True for a name that can be that of a node (Zarr v3 core, "Node names").
fn is_name(name: &str) -> bool {
    !name.contains('/') && !name.is_empty() && !name.bytes().all(|byte| byte == b'.') && !name.contains('\0')
}

/// Reads `.zmetadata`.
fn consolidated_v2(json: &Json) -> Result<Nodes> {
    let metadata = json.get("metadata").and_then(Json::as_object);
    let metadata = metadata.ok_or_else(|| invalid("\"metadata\" is no object"))?;
    let mut nodes = Nodes::new();
    for (key, document) in metadata.iter() {
        let key = key.trim_start_matches('/');
        let (path, name) = key.rsplit_once('/').unwrap_or(("", key));
        if [ZARRAY, ZGROUP, ZATTRS].contains(&name) && (path.is_empty() || path.split('/').all(is_name)) {
            nodes.entry(path.to_string()).or_default().take(name, document.clone());
        }
    }
    nodes.retain(|_, documents| documents.metadata.is_some());
    Ok(nodes)
}

/// Returns the member of `.zmetadata` that is [`Hierarchy::record_size`].
fn record_size(metadata: &Json) -> Option<u64> {
    metadata.get("record_size").map(|size| size.as_u64().unwrap_or(0))
}

/// Reads `consolidated_metadata` of the root.
fn consolidated_v3(json: &Json) -> Result<Nodes> {
    let metadata = json.get("metadata").and_then(Json::as_object);
    let metadata = metadata.ok_or_else(|| invalid("\"consolidated_metadata\" has no object \"metadata\""))?;
    let mut nodes = Nodes::new();
    for (path, document) in metadata.iter().filter(|(path, _)| path.split('/').all(is_name)) {
        nodes.entry(path.to_string()).or_default().take(ZARR_JSON, document.clone());
    }
    Ok(nodes)
}
