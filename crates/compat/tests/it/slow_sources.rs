//! Files of the reference and of libhdf4 in a store whose requests take 50 ms: rounds, requests and bytes are counted.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use ferrocdf::store::testing::{Rng, Simulated, Traffic};
use ferrocdf::store::{Cost, MemoryStore, ObjectBlob, Store};
use ferrocdf::{File, GroupId, OpenOptions, Owner, Selection};

use crate::hdf4::libhdf4;
use crate::ncdump_tool::generate;

const LATENCY: Duration = Duration::from_millis(50);

/// A window so small that a structure is in memory only if it was asked for.
const SMALL_PAGES: Cost = Cost { gap: 4 << 10, window: 64 << 10, ..Cost::REMOTE };

/// Puts the file that the reference makes of CDL into a slow store. Returns the store and the file's bytes.
fn stored(cdl: &str, kind: &str, cost: Cost) -> (Arc<Simulated<MemoryStore>>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let (text, path) = (folder.path().join("a.cdl"), folder.path().join("a.nc"));
    std::fs::write(&text, cdl).unwrap();
    generate(kind, &text, &path);
    let bytes = std::fs::read(path).unwrap();
    let store = MemoryStore::default();
    store.put("a.nc", &bytes).unwrap();
    (Arc::new(Simulated::new(store, cost, LATENCY)), bytes)
}

fn open(store: &Arc<Simulated<MemoryStore>>) -> File {
    let blob = Arc::new(ObjectBlob::new(store.clone(), "a.nc"));
    File::from_blob(blob, &OpenOptions::default()).unwrap()
}

/// All that a header says, as text: groups, dimensions, types, variables and attributes.
fn header(file: &File) -> String {
    let model = file.model();
    let groups = model.group_ids().map(Owner::Group);
    let owners: Vec<Owner> = groups.chain(model.var_ids().map(Owner::Var)).collect();
    let mut text = format!("{:?}\n{:?}\n", model.dims(), model.types());
    for var in model.var_ids() {
        writeln!(text, "{} {:?}", model.var_path(var), model.var(var).storage).unwrap();
    }
    for owner in owners {
        writeln!(text, "{owner:?} {:?}", model.attrs(owner).iter().collect::<Vec<_>>()).unwrap();
    }
    text
}

/// Variables on some dimensions, each with ten attributes, in some groups.
fn many_variables(groups: usize, variables: usize) -> String {
    let declare = |cdl: &mut String, group: usize| {
        for number in 0..variables / groups {
            let name = format!("v{group}_{number}");
            writeln!(cdl, "float {name}(t, x) ;").unwrap();
            for attribute in 0..4 {
                writeln!(cdl, "{name}:text_{attribute} = \"text {attribute} of {name}\" ;").unwrap();
                writeln!(cdl, "{name}:number_{attribute} = {attribute}., {number}. ;").unwrap();
            }
            writeln!(cdl, "string {name}:words = \"one\", \"of {name}\" ; {name}:units = \"m\" ;").unwrap();
        }
    };
    let mut cdl = String::from("netcdf a { dimensions: t = UNLIMITED ; x = 5 ;\nvariables: double x(x) ;\n");
    if groups == 1 {
        declare(&mut cdl, 0);
    } else {
        for group in 0..groups {
            writeln!(cdl, "group: g{group} {{ variables:").unwrap();
            declare(&mut cdl, group);
            writeln!(cdl, "}}").unwrap();
        }
    }
    cdl + "}"
}

#[test]
fn whole_header_of_a_thousand_variables_takes_few_rounds() {
    // With small pages, the rounds are the longest chain of pointers: from the superblock to the links of the root group, headers,
    // heaps of attributes, and strings.
    for (kind, groups, cost, most) in [
        ("-4", 1, Cost::REMOTE, 10),
        // Pages that are small where metadata lies between data cost two rounds here.
        ("-4", 20, Cost::REMOTE, 12),
        ("-4", 1, SMALL_PAGES, 16),
        ("-7", 1, SMALL_PAGES, 16),
        ("-4", 20, SMALL_PAGES, 24),
    ] {
        let cdl = many_variables(groups, 1000);
        let cdl = if kind == "-7" { cdl.replace("string ", "// ") } else { cdl };
        let (store, bytes) = stored(&cdl, kind, cost);
        let remote = header(&open(&store));
        let Traffic { rounds, bytes: read, .. } = store.take_traffic();
        assert!(rounds <= most, "{rounds} rounds");
        assert!(read <= bytes.len() as u64, "{read} bytes of {}", bytes.len());
        let local = header(&File::from_bytes(bytes).unwrap());
        assert_eq!(remote.lines().count(), local.lines().count());
        remote.lines().zip(local.lines()).for_each(|(remote, local)| assert_eq!(remote, local));
    }
}

/// Rows of the variable of the test below, and requests in flight.
const ROWS: u64 = 1000;
const IN_FLIGHT: u64 = 64;

#[test]
fn thousand_chunks_are_read_in_rounds_of_the_requests_in_flight() {
    // Every second chunk is wanted, and each is so large that it goes past the pages.
    let cost = Cost { gap: 0, window: 16 << 10, in_flight: IN_FLIGHT as usize, ..Cost::REMOTE };
    let mut rng = Rng::new(1);
    let values: Vec<String> = (0..ROWS * 2400).map(|_| (rng.number() as i32).to_string()).collect();
    for length in ["1000", "UNLIMITED"] {
        let cdl = format!(
            "netcdf a {{ dimensions: t = {length} ; x = 2400 ;
variables: int v(t, x) ; v:_ChunkSizes = 1, 1200 ; v:_DeflateLevel = 1 ;
data: v = {} ; }}",
            values.join(", ")
        );
        let (store, bytes) = stored(&cdl, "-4", cost);
        let file = open(&store);
        let var = file.model().find_var(GroupId::ROOT, b"v").unwrap();
        store.take_traffic();
        let half = Selection::slab(&[0, 0], &[ROWS, 1200]);
        let remote = file.read_selected(var, &half).unwrap();
        let Traffic { rounds, requests, .. } = store.take_traffic();
        assert!(requests >= ROWS && rounds <= ROWS / IN_FLIGHT + 3, "{rounds} rounds, {requests} requests");
        let local = File::from_bytes(bytes).unwrap().read_selected(var, &half).unwrap();
        assert_eq!(remote, local);
    }
}

/// Rounds that opening a granule may take.
const MOST_ROUNDS: u64 = 8;

#[test]
fn granule_of_hdf4_is_opened_and_read_in_few_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("granule.hdf");
    libhdf4().granule(&path);
    let bytes = std::fs::read(path).unwrap();
    let local = File::from_bytes(bytes.clone()).unwrap();
    for cost in [Cost::REMOTE, SMALL_PAGES] {
        let store = MemoryStore::default();
        store.put("a.nc", &bytes).unwrap();
        let store = Arc::new(Simulated::new(store, cost, LATENCY));
        let remote = open(&store);
        assert_eq!(header(&remote), header(&local));
        let Traffic { rounds, requests, bytes: read, .. } = store.take_traffic();
        println!("opening: {rounds} rounds, {requests} requests, {read} of {} bytes", bytes.len());
        assert!(rounds <= MOST_ROUNDS, "{rounds} rounds");
        for var in local.model().var_ids() {
            let all = Selection::slab(&[0, 0], &local.model().shape(var));
            assert_eq!(remote.read_selected(var, &all).unwrap(), local.read_selected(var, &all).unwrap());
        }
        let Traffic { rounds, .. } = store.take_traffic();
        let sets = local.model().vars().len() as u64;
        println!("reading {sets} data sets: {rounds} rounds");
        // The chunk table, and the chunks.
        assert!(rounds <= 3 * sets, "{rounds} rounds for {sets} data sets");
    }
}
