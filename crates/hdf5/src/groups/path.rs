//! Paths from object to object, through soft and external links.

use ferrocdf_bytes::Result;

use super::LinkTarget;
use crate::objects::object::Object;
use crate::wire::bad;
use crate::{Address, File};

/// Soft and external links that a path may go through. The reference stops at 16.
const MOST_LINKS: usize = 64;

impl File {
    /// The object that a path leads to from a group, through soft and external links; it may be in another file.
    /// `None` where a name on the way, or a file, is not there. A path that begins with a slash starts at the root group.
    pub fn open_path(&self, from: Address, path: &[u8]) -> Result<Option<Object>> {
        let mut file = self.clone();
        let mut at = from;
        let mut links = 0;
        // What is still to go, the next name last.
        let mut names = Vec::new();
        let push = |path: &[u8], names: &mut Vec<Vec<u8>>| {
            let steps = path.split(|&byte| byte == b'/').filter(|step| !step.is_empty() && *step != b".");
            names.extend(steps.rev().map(<[u8]>::to_vec));
            path.starts_with(b"/")
        };
        if push(path, &mut names) {
            at = file.superblock().root;
        }
        while let Some(name) = names.pop() {
            let Some(link) = file.object(at)?.link(&name)? else { return Ok(None) };
            if !matches!(link.target, LinkTarget::Hard(_)) {
                links += 1;
            }
            if links > MOST_LINKS {
                let path = String::from_utf8_lossy(path);
                return Err(bad(format!(
                    "path {path:?} goes through more than {MOST_LINKS} links, or in a circle"
                )));
            }
            match link.target {
                LinkTarget::Hard(object) => at = object,
                LinkTarget::Soft(path) => {
                    if push(&path, &mut names) {
                        at = file.superblock().root;
                    }
                }
                LinkTarget::External { file: other, path } => {
                    let Some(other) = file.neighbour(&other)? else { return Ok(None) };
                    file = other;
                    at = file.superblock().root;
                    push(&path, &mut names);
                }
                LinkTarget::User { class, .. } => {
                    let name = String::from_utf8_lossy(&name);
                    return Err(bad(format!(
                        "link {name:?}: only its maker can follow links of class {class}"
                    )));
                }
            }
        }
        file.object(at).map(Some)
    }
}
