//! Datasets that are made to harm their reader, each read by a process of its own, which says how much memory it had at most.

use std::env;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ferrocdf::{File, Owner};

/// Names the dataset that the process that this test starts reads.
const DATASET: &str = "FERROCDF_TEST_DATASET";

const MOST_MEMORY: u64 = 200 << 20;
const MOST_TIME: Duration = Duration::from_secs(2);

/// Reads a dataset: all attributes, and of each variable all elements, or the first and the last one if there are many. Returns what was
/// read, and each error.
fn read(dataset: &Path) -> Vec<String> {
    let mut said = vec![];
    let file = match File::open(dataset) {
        Ok(file) => file,
        Err(error) => return vec![format!("error: {error}")],
    };
    said.extend(file.skipped().iter().map(|why| format!("error: {why}")));
    let model = file.model();
    let owners = model.group_ids().map(Owner::Group).chain(model.var_ids().map(Owner::Var));
    for owner in owners {
        said.extend(model.attrs(owner).iter().map(|attr| format!("{attr:.200?}")));
    }
    for var in model.var_ids() {
        let shape = model.shape(var);
        let elements = shape.iter().try_fold(1u64, |all, &len| all.checked_mul(len)).unwrap_or(u64::MAX);
        let ones = vec![1; shape.len()];
        let last: Vec<u64> = shape.iter().map(|len| len.saturating_sub(1)).collect();
        let parts = match elements {
            0 => vec![],
            1..=1000 => vec![(vec![0; shape.len()], shape.clone())],
            _ => vec![(vec![0; shape.len()], ones.clone()), (last, ones)],
        };
        for (start, count) in parts {
            said.push(match file.read_values(var, &start, &count) {
                Ok(values) => format!("values: {values:?}").chars().take(4000).collect(),
                Err(error) => format!("error: {error}"),
            });
        }
    }
    said
}

/// Not a test but what the test here starts.
#[test]
fn reads_a_hostile_dataset() {
    let Some(dataset) = env::var_os(DATASET) else { return };
    let said = read(Path::new(&dataset)).join(" ").replace('\n', " ");
    let status = fs::read_to_string("/proc/self/status").expect("Linux says it there");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is always there");
    println!("\nread {} {said}", peak.trim().trim_end_matches(" kB"));
}

/// Has a process read a dataset. Returns what was read, and the errors, in a line; or what is wrong with the process: that it took too
/// long, had too much memory, or crashed.
pub fn read_apart(dataset: &Path) -> Result<String, String> {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args(["hostile::reads_a_hostile_dataset", "--exact", "--nocapture"]).env(DATASET, dataset);
    let begin = Instant::now();
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("this program starts again");
    // A full pipe would hold up the process.
    let mut pipe = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut out = vec![];
        pipe.read_to_end(&mut out).map(|_| out)
    });
    // A process that does not end would be an endless test.
    while child.try_wait().expect("it was started").is_none() {
        if begin.elapsed() > 5 * MOST_TIME {
            child.kill().expect("it was started");
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = begin.elapsed();
    let status = child.wait().expect("it was started");
    let out = reader.join().expect("a thread that reads").expect("a pipe that can be read");
    let out = String::from_utf8_lossy(&out);
    let Some(line) = out.lines().find_map(|line| line.strip_prefix("read ")) else {
        return Err(format!("it ended with {status} after {took:?}"));
    };
    let (peak, said) = line.split_once(' ').expect("a number and a text");
    let peak = 1024 * peak.parse::<u64>().expect("a number");
    match () {
        () if took > MOST_TIME => Err(format!("it took {took:?}: {said:.300}")),
        () if peak > MOST_MEMORY => Err(format!("it had {} MB: {said:.300}", peak >> 20)),
        () => Ok(said.to_string()),
    }
}
