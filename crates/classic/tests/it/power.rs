//! A power failure at any moment, where each flush waits for the disk: what is written between two flushes may be lost or
//! torn, in any order.

use std::sync::Arc;

use ferrocdf_array::In;
use ferrocdf_classic::ClassicFile;
use ferrocdf_model::{GroupId, Model, Owner, Values};
use ferrocdf_store::MemoryBlob;
use ferrocdf_store::testing::{Event, Log, Recording, Rng};

use crate::sample::{VERSIONS, bytes, put};

/// What a file says: its header, and the records that it counts.
fn text(file: &ClassicFile, model: &Model) -> String {
    let array = file.array(model, model.find_var(GroupId::ROOT, b"record").unwrap()).unwrap();
    let all = ferrocdf_array::Selection::all(&array.shape);
    let mut values = vec![0f64; all.elements().unwrap() as usize];
    let done = ferrocdf_array::read(file.blob(), &array, &all, ferrocdf_array::Out::new(&mut values));
    let attrs = |owner| model.attrs(owner).iter().map(|attr| format!("{attr:?}")).collect::<Vec<_>>();
    let vars: Vec<_> = model.var_ids().map(|var| (&model.var(var).name, attrs(Owner::Var(var)))).collect();
    format!("{:?} {vars:?} {:?} {done:?} {values:?}", attrs(Owner::Group(GroupId::ROOT)), array.shape)
}

fn text_of(bytes: &[u8]) -> Result<String, String> {
    let blob = Arc::new(MemoryBlob::new(bytes.to_vec()));
    let (file, model) = ClassicFile::open(blob, 0).map_err(|error| error.to_string())?;
    Ok(text(&file, &model))
}

#[test]
fn a_power_failure_leaves_the_state_of_the_last_flush_or_a_later_one() {
    for version in VERSIONS {
        let start = bytes(version);
        let blob = Arc::new(Recording::new(MemoryBlob::new(start.clone())));
        let (mut file, mut model) = ClassicFile::open_mut(Box::new(blob.clone())).unwrap();
        let mut texts = vec![text_of(&start).unwrap()];
        let root = Owner::Group(GroupId::ROOT);
        let mark = |file: &ClassicFile, model: &Model, texts: &mut Vec<String>| {
            blob.mark();
            texts.push(text(file, model));
        };
        for round in 0..6u8 {
            // A record more.
            let record = file.records();
            put(&mut file, &mut model, 1, &[record, 0], &[1, 3], In::new(&[f64::from(round); 3])).unwrap();
            file.flush(&model).unwrap();
            mark(&file, &model, &mut texts);
            // A header that stays in its place, then one that outgrows it.
            let len = if round % 2 == 0 { 5000 } else { 10 };
            model.put_attr(root, "text", Values::Char(vec![b'a' + round; len])).unwrap();
            file.commit(&model).unwrap();
            file.flush_definitions().unwrap();
            mark(&file, &model, &mut texts);
        }
        let log = Log { start, events: blob.events(), sector: 4096 };
        let wrong = |log: &Log| {
            let mut wrong = 0;
            log.cuts(&mut Rng::new(3), &mut |bytes, marks, _| {
                let found = text_of(bytes);
                let good = found.is_ok_and(|found| {
                    found == texts[marks] || texts.get(marks + 1).is_some_and(|next| *next == found)
                });
                wrong += usize::from(!good);
            });
            wrong
        };
        assert_eq!(wrong(&log), 0);
        // The test can fail: without barriers everything may come in any order.
        let events = log.events.iter().filter(|event| **event != Event::Barrier).cloned().collect();
        assert!(wrong(&Log { events, ..log.clone() }) > 0);
    }
}
