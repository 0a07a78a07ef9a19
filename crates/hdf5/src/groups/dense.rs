//! Links in a fractal heap, found by a version 2 B-tree of their names' hashes (record type 5).
//!
//! The index by creation order (type 6) is not needed: every link says its order itself.

use std::cmp::Ordering;

use ferrocdf_bytes::{Result, lookup3};

use super::Link;
use crate::heaps::FractalHeap;
use crate::objects::dense_info::{DenseRecord, Of};
use crate::trees::btree2::BTree2;
use crate::wire::bad;
use crate::{Address, Source};

fn tree(source: &Source, at: Address) -> Result<BTree2> {
    let tree = BTree2::open(source, at)?;
    match tree.record_type() {
        5 => Ok(tree),
        other => Err(bad(format!("the B-tree of links at {at} has records of type {other}"))),
    }
}

fn record(bytes: &[u8]) -> Result<DenseRecord> {
    DenseRecord::by_name(Of::Links, bytes)
}

/// Adds all links.
pub fn all(source: &Source, heap: Address, by_name: Address, links: &mut Vec<Link>) -> Result<()> {
    let heap = FractalHeap::open(source, heap)?;
    let mut left = heap.most()?;
    let tree = tree(source, by_name)?;
    // Each is stored on its own: more than there is would be the same ones again.
    let too_long = || bad("links that are longer than their heap");
    if source.is_near() {
        return tree.walk(&mut |bytes| {
            let link = heap.object(record(bytes)?.id())?;
            left = left.checked_sub(link.len() as u64).ok_or_else(too_long)?;
            links.push(Link::decode(&link, source.sizes)?);
            Ok(())
        });
    }
    let mut records = Vec::new();
    tree.walk(&mut |bytes| {
        records.push(record(bytes)?);
        Ok(())
    })?;
    let decoded = source.map_within_budget(left, &records, |record| match heap.object(record.id()) {
        Ok(link) => (Link::decode(&link, source.sizes), link.len() as u64),
        Err(error) => (Err(error), 0),
    });
    for link in decoded {
        links.push(link.ok_or_else(too_long)??);
    }
    Ok(())
}

/// The link of this name.
pub fn find(source: &Source, heap: Address, by_name: Address, name: &[u8]) -> Result<Option<Link>> {
    let heap = FractalHeap::open(source, heap)?;
    let hash = lookup3(name, 0);
    let mut found = None;
    tree(source, by_name)?.find(&mut |bytes| {
        let record = record(bytes)?;
        if hash != record.hash {
            return Ok(hash.cmp(&record.hash));
        }
        // Names of one hash are in the order of their bytes.
        let link = Link::decode(&heap.object(record.id())?, source.sizes)?;
        let order = name.cmp(&link.name);
        if order == Ordering::Equal {
            found = Some(link);
        }
        Ok(order)
    })?;
    Ok(found)
}
