//! Each fault at each of the first 40 requests of opening a dataset and reading all of it: the values are right, or an error says
//! what happened to which object.

use std::time::{Duration, Instant};

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::remote::{Environment, Settings, open};
use ferrocdf::{
    Atomic, Code, CreateOptions, File, FileMut, Format, GroupId, Location, OpenOptions, Owner, Result,
    Values, VarId, errno,
};

use crate::server::{Fault, Server};

/// Requests that get a fault.
const REQUESTS: usize = 40;
/// Elements of a variable: more than pages of metadata are kept of, so that each variable takes requests of its own.
const LEN: u64 = 80_000;
const VARIABLES: usize = 30;
/// Time for a request with its retries, where the fault is to last until then; and more than any run takes that ends as it should.
const DEADLINE: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers that no compressor makes much smaller.
fn numbers(variable: usize, shift: u32) -> Vec<u32> {
    let mut state = variable as u32 * 7919 + shift;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 4
    };
    (0..LEN).map(|_| next()).collect()
}

/// A dataset with variables whose metadata lies between their data, many attributes, and, where the format has them, groups and
/// compressed chunks. Other shifts give other values, and nothing else that is different.
fn dataset(format: Format, shift: u32) -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
    let is_netcdf4 = format == Format::NETCDF4;
    let mut parent = GroupId::ROOT;
    for number in 0..VARIABLES {
        let name = format!("v{number}");
        file.define(|model| {
            if is_netcdf4 && number == VARIABLES / 2 {
                parent = model.def_group(parent, "second")?;
            }
            let dim = model.def_dim(parent, format!("x{number}"), Some(LEN))?;
            let var = model.def_var(parent, &name, Atomic::Int.into(), &[dim])?;
            for at in 0..12 {
                let value = Values::from(format!("attribute {at} of {name} {shift}"));
                model.put_attr(Owner::Var(var), format!("a{at}"), value)?;
            }
            if is_netcdf4 && number % 3 == 0 {
                let storage = &mut model.var_mut(var).storage;
                storage.chunking = Some(Chunking::Chunked(vec![LEN / 2]));
                storage.set_filter(Filter::DEFLATE, vec![1]);
            }
            Ok(())
        })
        .unwrap();
        let path = file.model().var_path(VarId(number as u32));
        file.variable_mut(&path).unwrap().put_values(&numbers(number, shift), ..).unwrap();
        file.sync().unwrap();
    }
    file.into_bytes().unwrap().unwrap()
}

/// Everything that a dataset says: attributes and values of each variable, and one value of each more.
type Content = Vec<(Vec<(String, Values)>, Vec<u32>, u32)>;

/// Opens the dataset of a location and reads all of it.
fn read(location: &Location) -> Result<Content> {
    let file = File::open_location(location, &OpenOptions::default())?;
    assert_eq!(file.skipped(), [""; 0], "a fault of the network is no defect of the file");
    let content: Result<Content> = file
        .variables()
        .map(|var| Ok((var.attributes()?, var.get_values(..)?, var.get_value([LEN - 3])?)))
        .collect();
    content
}

/// What a fault leads to.
enum Outcome {
    /// The right values: the request is sent again.
    Values,
    /// An error with one of these codes that says this.
    Error(&'static [Code], &'static str),
    /// The right values, or such an error.
    Either(&'static [Code], &'static str),
}

/// The faults, and what each may lead to. `other` is another version of the dataset.
fn faults(other: &[u8]) -> Vec<(Fault, Outcome)> {
    let retry_after = Fault::Status(503, vec![("retry-after", "0".to_string())], String::new());
    let error = |code: &'static [Code], what| Outcome::Error(code, what);
    const ANSWER: &[Code] = &[Code::EIO];
    const STALE: &[Code] = &[errno::STALE];
    vec![
        (Fault::Reset, Outcome::Values),
        (Fault::AnswerLost, Outcome::Values),
        (Fault::CutBody, Outcome::Values),
        (Fault::ExtraBytes, Outcome::Values),
        (Fault::status(429), Outcome::Values),
        (Fault::status(500), Outcome::Values),
        (Fault::s3(503, "SlowDown"), Outcome::Values),
        (retry_after, Outcome::Values),
        (Fault::Silence(Duration::from_millis(60)), Outcome::Values),
        (Fault::Drip(Duration::from_millis(1)), error(&[Code::ECURL], "the deadline passed")),
        (Fault::s3(403, "AccessDenied"), error(&[Code::EACCESS], "403 Forbidden, AccessDenied")),
        (Fault::status(401), error(&[Code::EAUTH], "401 Unauthorized")),
        (Fault::s3(404, "NoSuchKey"), error(&[Code::ENOOBJECT], "404")),
        // The client asks again for the size, to tell a range behind the end from this.
        (Fault::status(416), Outcome::Either(&[Code::EIO, Code::ES3], "416")),
        (Fault::WrongRange, error(ANSWER, "the answer has the range")),
        (Fault::NoContentRange, error(ANSWER, "does not tell positions and size")),
        (Fault::LongBody, error(ANSWER, "but a body of")),
        (Fault::LongChunkedBody, error(ANSWER, "the body has more than")),
        (Fault::Gzip, error(ANSWER, "the content encoding \"gzip\"")),
        // Before the first request there is nothing that it could be mixed with.
        (Fault::Replace(other.to_vec()), Outcome::Either(STALE, "replaced the object")),
    ]
}

/// A dataset on a server.
struct Scene {
    protocol: &'static str,
    server: Server,
    path: &'static str,
    bytes: Vec<u8>,
    other: Vec<u8>,
    content: Content,
    other_content: Content,
}

impl Scene {
    fn new(format: Format, protocol: &'static str) -> Scene {
        let [bytes, other] = [dataset(format, 1), dataset(format, 2)];
        let content = |bytes: &[u8]| read(&Location::bytes(bytes.to_vec())).unwrap();
        let [content, other_content] = [content(&bytes), content(&other)];
        assert_eq!(content.len(), VARIABLES);
        assert_ne!(content, other_content);
        let path = if protocol == "s3" { "/bucket/d/a.nc" } else { "/d/a.nc" };
        Scene { protocol, server: Server::start(), path, bytes, other, content, other_content }
    }

    /// The dataset, with nothing known of it.
    fn location(&self, deadline: Duration) -> Location {
        let keys = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hush")];
        let settings = Settings {
            backoff: Some(Duration::from_millis(1)),
            deadline: Some(deadline),
            idle_timeout: Some(Duration::from_millis(30)),
            endpoint_url: Some(self.server.url("")),
            environment: Environment::of(keys),
            ..Settings::default()
        };
        let url = match self.protocol {
            "s3" => "s3://bucket/d/a.nc".to_string(),
            _ => self.server.url(self.path),
        };
        let (store, key) = open(&url, &settings).unwrap();
        Location::Object { store, key }
    }

    /// Reads the dataset while the requests from one on meet these faults.
    fn run(&self, request: usize, faults: impl IntoIterator<Item = Fault>, outcome: &Outcome, case: &str) {
        self.server.put(self.path, &self.bytes);
        self.server.fail_from(request, faults);
        let deadline = if case.contains("Drip") { DEADLINE } else { PATIENCE / 2 };
        let begin = Instant::now();
        let done = read(&self.location(deadline));
        assert!(begin.elapsed() < PATIENCE, "{case}: {:?}", begin.elapsed());
        match (done, outcome) {
            (Ok(content), Outcome::Values | Outcome::Either(..)) => {
                assert!(content == self.content || content == self.other_content, "{case}");
            }
            (Ok(_), Outcome::Error(..)) => panic!("{case}: nobody told"),
            (Err(error), Outcome::Values) => panic!("{case}: {error}"),
            (Err(error), Outcome::Error(codes, what) | Outcome::Either(codes, what)) => {
                let told = error.to_string();
                assert!(codes.contains(&error.code), "{case}: {:?}: {told}", error.code);
                assert!(told.contains("d/a.nc") && told.contains(what), "{case}: {told}");
            }
        }
    }
}

/// One run in so many is made: `FERROCDF_EVERY`.
fn every() -> usize {
    std::env::var("FERROCDF_EVERY").map_or(8, |every| every.parse().expect("FERROCDF_EVERY is a number"))
}

#[test]
fn faults_give_right_values_or_errors_that_say_what_happened() {
    let (every, mut scenes, mut runs) = (every(), 0, 0);
    for format in [Format::CLASSIC, Format::DATA64, Format::NETCDF4] {
        for protocol in ["http", "s3"] {
            let scene = Scene::new(format, protocol);
            scene.run(0, [], &Outcome::Values, "no fault");
            let requests = scene.server.take_seen().len();
            assert!(requests >= VARIABLES, "{requests}");
            for (number, (fault, outcome)) in faults(&scene.other).into_iter().enumerate() {
                let chosen = |request: &usize| (request + number + scenes).is_multiple_of(every);
                let name: String = format!("{fault:?}").chars().take(40).collect();
                for request in (0..requests.min(REQUESTS)).filter(chosen) {
                    let case = format!("{format:?} by {protocol}, request {request}: {name}");
                    scene.run(request, [fault.clone()], &outcome, &case);
                    runs += 1;
                }
            }
            scenes += 1;
        }
    }
    println!("{runs} runs with a fault");
}
