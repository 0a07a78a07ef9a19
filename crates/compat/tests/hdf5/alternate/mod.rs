//! Random sessions on one file, done by us and by the reference in turns: whoever wrote last, all must find in it what the
//! test's own model says.
//!
//! Each session opens the file, defines, puts, renames, deletes and grows, and closes it: through our Rust API, or through
//! the module netCDF4, the wheel's or Debian's, in a process that reads the operations as text. After each, both readers
//! tell all that they find: values, attributes, types, dimensions, storage. They must agree with the model, and with each
//! other in the order of everything; h5py must find each dataset attached to its scales, and them to it.

mod ours;
mod story;
mod world;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrocdf_compat::python::script;
use serde_json::{Value as Json, json};

use crate::models::wanted;
use story::{Story, Who};

/// Sequences of a usual run.
const USUAL: usize = 40;

/// Sessions of a sequence at most.
const SESSIONS: u64 = 8;

/// A reference in a process of its own.
struct Reference {
    name: &'static str,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Reference {
    fn start(name: &'static str) -> Self {
        let mut command = match name {
            "the wheel" => script("alternate.py"),
            _ => {
                let mut command = Command::new("/usr/bin/python3");
                command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("py/alternate.py"));
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a Python that starts");
        let to = child.stdin.take().expect("it was piped");
        let from = BufReader::new(child.stdout.take().expect("it was piped"));
        Reference { name, child, to, from }
    }

    /// The answer to a request; an error if the process died of it.
    fn ask(&mut self, request: &Json) -> Result<Json, String> {
        let mut answer = String::new();
        let sent = writeln!(self.to, "{request}").and_then(|()| self.to.flush());
        if sent.is_err() || self.from.read_line(&mut answer).unwrap_or(0) == 0 {
            let status = self.child.wait();
            *self = Reference::start(self.name);
            return Err(format!("{} died: {status:?}", self.name));
        }
        let answer: Json = serde_json::from_str(&answer).map_err(|error| format!("{error}: {answer}"))?;
        match answer.get("failed") {
            Some(why) => Err(format!("{} failed: {why}", self.name)),
            None => Ok(answer),
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // One that has just ended cannot be killed, and need not be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where what a reader tells is not what is wanted; what is wanted may leave things open.
fn differs(wanted: &Json, told: &Json, at: &str) -> Option<String> {
    match (wanted, told) {
        (Json::Null, _) => None,
        (Json::Object(wanted), Json::Object(told)) => {
            let is_open = |key: &str| !matches!(key, "filters");
            let more = told.keys().find(|key| is_open(key) && !wanted.contains_key(*key));
            if let Some(more) = more {
                return Some(format!("{at}/{more} is not to be there"));
            }
            wanted.iter().find_map(|(key, wanted)| match told.get(key) {
                None => Some(format!("{at}/{key} is not there")),
                Some(told) => differs(wanted, told, &format!("{at}/{key}")),
            })
        }
        (wanted, told) if wanted == told => None,
        (Json::Array(wanted), Json::Array(told)) if wanted.len() == told.len() && wanted[0].is_null() => {
            wanted.iter().zip(told).find_map(|(wanted, told)| differs(wanted, told, at))
        }
        (wanted, told) => {
            let short = |json: &Json| json.to_string().chars().take(300).collect::<String>();
            Some(format!("{at}: {} is to be {}", short(told), short(wanted)))
        }
    }
}

/// Where two readers differ; the order of things counts, but for that of attributes where the HDF5 library forgot it.
fn readers_differ(ours: &Json, theirs: &Json, unordered: bool, at: &str) -> Option<String> {
    match (ours, theirs) {
        (Json::Object(ours), Json::Object(theirs)) => {
            let [mut a, mut b] = [ours, theirs].map(|map| map.keys().collect::<Vec<_>>());
            if unordered && at.ends_with("/atts") {
                a.sort();
                b.sort();
            }
            if a != b {
                return Some(format!("{at}: we find {a:?}, the reference {b:?}"));
            }
            ours.iter()
                .find_map(|(key, ours)| readers_differ(ours, &theirs[key], unordered, &format!("{at}/{key}")))
        }
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => Some(format!("{at}: we find {ours}, the reference {theirs}")),
    }
}

/// What is wrong with a file after a session.
fn judge(story: &Story, path: &Path, references: &mut [Reference]) -> Result<(), String> {
    let wanted = story.world.told();
    let ours = ours::tell(path).map_err(|error| format!("we cannot read it: {error}"))?;
    if let Some(how) = differs(&wanted, &ours, "") {
        return Err(format!("we find {how}"));
    }
    let misread: Vec<usize> =
        (0..story.world.vars.len()).filter(|&var| story.world.is_misread(var)).collect();
    let place = |&var: &usize| (story.world.path(story.world.vars[var].group), &story.world.vars[var].name);
    let skip: Vec<_> = misread.iter().map(place).collect();
    for reference in references.iter_mut() {
        let mut theirs = reference.ask(&json!({ "do": "tell", "path": path, "skip": skip }))?;
        for (&var, (group, name)) in misread.iter().zip(&skip) {
            theirs["groups"][group]["vars"][name]["data"] = story.world.data(var).into();
        }
        if let Some(how) = differs(&wanted, &theirs, "") {
            return Err(format!("{} finds {how}", reference.name));
        }
        if let Some(how) = readers_differ(&ours, &theirs, story.unordered, "") {
            return Err(format!("{}: {how}", reference.name));
        }
    }
    let scales = references[0].ask(&json!({ "do": "scales", "path": path }))?;
    match differs(&story.world.scales(), &scales, "") {
        Some(how) => Err(format!("scales: {how}")),
        None => Ok(()),
    }
}

/// One sequence: how many sessions there were, or what went wrong.
fn sequence(seed: u64, path: &Path, references: &mut [Reference]) -> Result<usize, String> {
    let mut story = Story::new(seed);
    let sessions = 2 + story.rng().below(SESSIONS - 1);
    let mut told = vec![];
    for number in 0..sessions {
        let who = match story.rng().below(4) {
            0 => Who::Theirs(0),
            1 => Who::Theirs(1),
            _ => Who::Ours,
        };
        let format = if story.world.classic { "NETCDF4_CLASSIC" } else { "NETCDF4" };
        let create = (number == 0).then_some(format);
        let ops = story.session(who);
        told.push(format!("session {number} by {who:?}"));
        told.extend(ops.iter().map(|op| op.to_string().chars().take(400).collect()));
        let done = match who {
            Who::Ours => ours::edit(path, create, &ops).map_err(|(at, why)| format!("operation {at}: {why}")),
            Who::Theirs(at) => {
                let request = json!({ "do": "edit", "path": path, "create": create, "operations": ops });
                match references[at].ask(&request) {
                    Ok(Json::Null) => Ok(()),
                    Ok(failed) => Err(format!("{} fails at operation {failed}", references[at].name)),
                    Err(died) => Err(died),
                }
            }
        };
        done.and_then(|()| judge(&story, path, references))
            .map_err(|why| format!("seed {seed}, session {number} by {who:?}: {why}\n{}", told.join("\n")))?;
    }
    Ok(sessions as usize)
}

#[test]
fn sessions_of_both_on_one_file() {
    let (count, first) = wanted(USUAL);
    let folder = tempfile::tempdir().expect("a folder");
    let (next, sessions, failures) = (AtomicUsize::new(first), AtomicUsize::new(0), Mutex::new(vec![]));
    let work = || {
        let mut references = ["the wheel", "Debian's"].map(Reference::start);
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= first + count {
                return;
            }
            let path = folder.path().join(format!("{seed}.nc"));
            match sequence(seed as u64, &path, &mut references) {
                Ok(done) => drop(sessions.fetch_add(done, Relaxed)),
                Err(why) => failures.lock().expect("no panic").push(why),
            }
            std::fs::remove_file(&path).expect("the file that was made");
        }
    };
    std::thread::scope(|scope| {
        [scope.spawn(work), scope.spawn(work)].map(|worker| worker.join().expect("a worker"))
    });
    let failures = failures.into_inner().expect("no panic");
    println!("{} sessions in {} sequences", sessions.into_inner(), count - failures.len());
    assert!(failures.is_empty(), "{} sequences fail:\n\n{}", failures.len(), failures.join("\n\n"));
}
