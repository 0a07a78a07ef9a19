//! Programs that print credentials (`credential_process` of a profile).
//!
//! The form is that of the AWS SDKs and Tools reference guide, "Process credential provider": JSON of version 1 on standard output.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::Value;

use super::temporary_keys::{Issued, Issuer, issued, time};
use crate::settings::Secret;

/// Time that a program may take: it may ask the user for a second factor.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of output that are read.
const MAX_OUTPUT: u64 = 64 << 10;

/// A program that prints credentials: a command for the shell.
#[derive(Debug)]
pub(super) struct CredentialProcess(pub Secret);

#[async_trait]
impl Issuer for CredentialProcess {
    async fn issue(&self) -> Result<Issued, String> {
        // The command itself may contain a secret.
        self.run().map_err(|what| format!("credential_process: {what}"))
    }
}

impl CredentialProcess {
    fn run(&self) -> Result<Issued, String> {
        let mut command = shell(self.0.expose());
        let child = command.stdin(Stdio::inherit()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("the shell does not start: {error}"))?;
        let deadline = Instant::now() + PATIENCE;
        let ended = output(&mut child, deadline).and_then(|output| Ok((output, wait(&mut child, deadline)?)));
        if ended.is_err() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        let (output, status) = ended?;
        keys_of(&output, status)
    }
}

#[cfg(unix)]
fn shell(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    command
}

#[cfg(not(unix))]
fn shell(text: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", text]);
    command
}

/// Waits for the end of a program that has closed its output.
fn wait(child: &mut Child, deadline: Instant) -> Result<ExitStatus, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) => return Err(too_slow()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn too_slow() -> String {
    format!("the program did not end within {} s", PATIENCE.as_secs())
}

/// Reads what a program prints until it closes its output.
fn output(child: &mut Child, deadline: Instant) -> Result<Vec<u8>, String> {
    let stdout = child.stdout.take().ok_or("the program has no output")?;
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = vec![];
        let read = stdout.take(MAX_OUTPUT).read_to_end(&mut bytes);
        // Nobody waits any more if the program took too long.
        let _ = sender.send(read.map(|_| bytes));
    });
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(RecvTimeoutError::Timeout) => Err(too_slow()),
        Err(RecvTimeoutError::Disconnected) => Err("the output cannot be read".to_string()),
    }
}

/// Returns the keys in the output of a program that has ended.
fn keys_of(output: &[u8], status: ExitStatus) -> Result<Issued, String> {
    if !status.success() {
        return Err(format!("the program failed: {status}"));
    }
    // The text of the error would show a part of the output.
    let json: Value = serde_json::from_slice(output).map_err(|_| "the output is not JSON")?;
    if json["Version"] != 1 {
        return Err("its Version is not 1".to_string());
    }
    let text = |key: &str| json[key].as_str().map(str::to_string);
    let end = match text("Expiration") {
        None => None,
        Some(text) => Some(time(&text).ok_or("its Expiration is not a time of RFC 3339")?),
    };
    issued(text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken"), end)
}
