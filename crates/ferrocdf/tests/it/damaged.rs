//! Damaged files that are changed all the same: an error, or a file that opens, and never harm.

use ferrocdf_classic::Header;
use ferrocdf_store::MemoryBlob;

use ferrocdf::{CreateOptions, File, FileMut, Format, Owner, Values, VarId};

fn sample(format: Format) -> Vec<u8> {
    let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_dimension("x", 3).unwrap();
    file.put_attribute("title", "damaged").unwrap();
    let fixed = file.add_variable::<i16>("fixed", &["x"]).unwrap();
    fixed.put_values(&[1i16, 2, 3], ..).unwrap();
    let record = file.add_variable::<f64>("record", &["t", "x"]).unwrap();
    record.put_attribute("units", "m").unwrap();
    record.put_values(&[1.0f64, 2.0, 3.0], (0, ..)).unwrap();
    file.into_bytes().unwrap().unwrap()
}

/// Whether the file, made as long as its header says, stays small: editing makes it so long, sparse on a disk, but real
/// in memory.
fn is_small(bytes: &[u8]) -> bool {
    let Ok(file) = File::from_bytes(bytes.to_vec()) else { return true };
    let (header, _) = Header::read(&MemoryBlob::new(bytes.to_vec())).expect("it was just read");
    if header.vars.iter().any(|var| var.begin > 1 << 20) {
        return false;
    }
    let model = file.model();
    let sizes =
        model.var_ids().map(|var| model.shape(var).iter().fold(8u64, |size, &len| size.saturating_mul(len)));
    sizes.fold(0, u64::saturating_add) < 1 << 20
}

/// Adds an attribute and a variable, writes a value, closes.
fn edit(bytes: Vec<u8>) -> ferrocdf::Result<Vec<u8>> {
    let file = FileMut::append_bytes(bytes)?;
    file.define(|model| model.put_attr(Owner::Group(ferrocdf::GroupId::ROOT), "history", "edited".into()))?;
    file.commit()?;
    if let Some(variable) = file.model().var_ids().next() {
        let rank = file.model().shape(variable).len();
        if let Ok(ferrocdf::Atomic::Short) = file.model().atomic_type(variable) {
            let _fit =
                file.write_values(variable, &vec![0; rank], &vec![1; rank], &Values::Short(vec![9]))?;
        }
    }
    Ok(file.into_bytes()?.expect("the file is in memory"))
}

#[test]
fn an_edited_file_keeps_its_data() {
    for format in [Format::CLASSIC, Format::OFFSET64, Format::DATA64] {
        let file = File::from_bytes(edit(sample(format)).unwrap()).unwrap();
        assert_eq!(file.read_values(VarId(0), &[0], &[3]).unwrap(), Values::Short(vec![9, 2, 3]));
        assert_eq!(file.variable("record").unwrap().get_values::<f64, _>(..).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(file.attribute("history"), Ok("edited".to_string()));
    }
}

#[test]
fn cut_or_changed_anywhere_editing_does_no_harm() {
    for format in [Format::CLASSIC, Format::OFFSET64, Format::DATA64] {
        let whole = sample(format);
        for at in 0..whole.len() {
            let mut changed = vec![whole[..at].to_vec()];
            for value in [0, 1, 0x10, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                changed.push(bytes);
            }
            for bytes in changed.into_iter().filter(|bytes| is_small(bytes)) {
                // Whatever an edit accepts, it leaves a file that opens.
                if let Ok(edited) = edit(bytes) {
                    File::from_bytes(edited).unwrap_or_else(|error| panic!("byte {at}: {error}"));
                }
            }
        }
    }
}
