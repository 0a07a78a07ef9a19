//! Servers that others wrote, on loopback: nginx for HTTP and HTTPS, moto for S3. Each ends when it is dropped.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to answer its first connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, with a folder for its files.
struct Running {
    process: Child,
    folder: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that ended already cannot be stopped, and need not be.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    /// Starts a server that listens on a port, and waits until it does.
    fn start(command: &mut Command, port: u16, folder: TempDir) -> Running {
        let log = fs::File::create(folder.path().join("output")).expect("a file for the output");
        let both = log.try_clone().expect("a second handle of the file");
        command.stdin(Stdio::null()).stdout(log).stderr(both);
        let process = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}; {ADVICE}"));
        let mut running = Running { process, folder };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = running.process.try_wait().expect("it was started");
            let output = || fs::read_to_string(running.folder.path().join("output")).unwrap_or_default();
            assert!(ended.is_none() && begin.elapsed() < PATIENCE, "{command:?}: {}; {ADVICE}", output());
            std::thread::sleep(Duration::from_millis(20));
        }
        running
    }
}

const ADVICE: &str = "run `cargo xtask clients` or `cargo xtask corpus`, which install servers";

/// A command that gets a signal to end when the thread that started it ends, in whatever way.
fn dying_with_us(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM"]).arg(program);
    command
}

/// A port that nobody listened on a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    listener.local_addr().expect("it is bound").port()
}

/// nginx, which serves a folder by ranges and takes new files, or forwards requests to another server.
pub struct Nginx {
    running: Running,
    port: u16,
    secure_port: u16,
}

impl Nginx {
    /// Serves a folder by HTTP, and by HTTPS with a certificate of its own.
    ///
    /// # Panics
    /// If nginx or openssl is not there.
    pub fn serve(root: &Path) -> Nginx {
        Nginx::start(&format!("root {}; dav_methods PUT DELETE;", root.display()))
    }

    /// Forwards requests to the server of a URL, with paths and `Host` unmodified.
    ///
    /// # Panics
    /// If nginx or openssl is not there.
    pub fn forward(url: &str) -> Nginx {
        Nginx::start(&format!(
            "location / {{ proxy_pass {url}; proxy_http_version 1.1; proxy_set_header Host $http_host; }}"
        ))
    }

    /// Listens by HTTP and by HTTPS, with directives that say what is answered.
    fn start(answer: &str) -> Nginx {
        let folder = tempfile::tempdir().expect("a folder for the server");
        let (port, secure_port) = (free_port(), free_port());
        let at = |name: &str| folder.path().join(name).display().to_string();
        let subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2"])
            .args(subject)
            // A certificate of an authority is not taken for one of a server.
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-keyout", &at("key"), "-out", &at("certificate")])
            .output()
            .unwrap_or_else(|error| panic!("openssl: {error}; {ADVICE}"));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        // Workers of root run as another user otherwise, who may not read the folder.
        let is_root =
            fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0);
        let user = if is_root { "user root;" } else { "" };
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {};\n", at(kind)))
            .concat();
        let config = format!(
            "{user} daemon off; worker_processes 1; pid {pid}; error_log {errors};
            events {{ worker_connections 512; }}
            http {{
                {temporary}
                log_format requests '$request_method $request_uri $http_range $status';
                access_log {requests} requests;
                client_max_body_size 0;
                server {{
                    listen 127.0.0.1:{port};
                    listen 127.0.0.1:{secure_port} ssl;
                    ssl_certificate {certificate};
                    ssl_certificate_key {key};
                    {answer}
                }}
            }}",
            pid = at("pid"),
            errors = at("errors"),
            requests = at("requests"),
            certificate = at("certificate"),
            key = at("key"),
        );
        fs::write(at("config"), config).expect("the configuration is written");
        let program = if Path::new("/usr/sbin/nginx").is_file() { "/usr/sbin/nginx" } else { "nginx" };
        let mut command = dying_with_us(program.as_ref());
        command.args(["-e", &at("errors"), "-c", &at("config"), "-p", &at("")]);
        Nginx { running: Running::start(&mut command, port, folder), port, secure_port }
    }

    /// The URL of the folder or server.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The URL by HTTPS, with the host of [`Nginx::secure_host`].
    pub fn secure_url(&self) -> String {
        format!("https://{}", self.secure_host())
    }

    /// The host and port that answer by HTTPS.
    pub fn secure_host(&self) -> String {
        format!("localhost:{}", self.secure_port)
    }

    /// The file of the certificate, which programs trust if `SSL_CERT_FILE` names it.
    pub fn certificate(&self) -> PathBuf {
        self.running.folder.path().join("certificate")
    }

    /// The requests since the server was started: method, path, range, status, one in each line.
    pub fn requests(&self) -> Vec<String> {
        let log = fs::read_to_string(self.running.folder.path().join("requests")).expect("the log is there");
        log.lines().map(str::to_string).collect()
    }
}

impl Drop for Nginx {
    /// Ends the workers too, which the one that is killed leaves behind.
    fn drop(&mut self) {
        let quit = Command::new("kill").arg(self.running.process.id().to_string()).status();
        if quit.is_ok_and(|status| status.success()) {
            // Whether it ended in order or not, it has ended.
            let _ = self.running.process.wait();
        }
    }
}

/// moto, which stands for AWS: S3 with one bucket.
pub struct Moto {
    _running: Running,
    port: u16,
}

/// The bucket that [`Moto`] has.
pub const BUCKET: &str = "bucket";

impl Moto {
    /// Starts an empty S3 with a bucket. `python` has moto.
    ///
    /// # Panics
    /// If it is not there.
    pub fn serve(python: &Path) -> Moto {
        let folder = tempfile::tempdir().expect("a folder for the server");
        let port = free_port();
        let mut command = dying_with_us(python);
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("py/moto_server.py");
        // Objects that are large are kept in files.
        command.arg(server).arg(port.to_string()).env("TMPDIR", folder.path());
        let moto = Moto { _running: Running::start(&mut command, port, folder), port };
        let make = format!(
            "import boto3; boto3.client('s3', endpoint_url='{}', region_name='us-east-1', aws_access_key_id='AKID', \
             aws_secret_access_key='hush').create_bucket(Bucket='{BUCKET}')",
            moto.url()
        );
        let made = Command::new(python).args(["-c", &make]).output().expect("there is Python");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        moto
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What programs find in their environment.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_ACCESS_KEY_ID", "AKID".to_string()),
            ("AWS_SECRET_ACCESS_KEY", "hush".to_string()),
            ("AWS_REGION", "us-east-1".to_string()),
        ]
    }
}
