//! Zip files that are written, broken off and replaced.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::super::steps::fail_at;
use super::*;
use crate::suite;
use crate::testing::Rng;

#[test]
fn passes_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0;
    suite::store(|_| {
        number += 1;
        ZipDraft::create(&folder.path().join(format!("{number}.zip"))).unwrap()
    });
}

fn opened(path: &Path) -> Result<Arc<ZipStore>> {
    Ok(Arc::new(ZipStore::open(Arc::new(FileBlob::open(path)?))?))
}

fn get(store: &dyn Store, key: &str) -> Option<Vec<u8>> {
    store.get(key, ByteRange::All).unwrap().map(|found| found.bytes)
}

/// Makes a zip file with one object, and returns its path.
fn one(folder: &Path) -> PathBuf {
    let path = folder.join("a.zip");
    let draft = ZipDraft::create(&path).unwrap();
    draft.put("a", b"1").unwrap();
    draft.commit().unwrap();
    path
}

/// Opens a file as a writer does that takes no lock.
fn without_lock(path: &Path) -> ZipDraft {
    ZipDraft::edit(path, target(path).unwrap(), Arc::new(FileBlob::open_mut(path).unwrap())).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_commit_replaces_the_file_and_keeps_what_did_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let draft = ZipDraft::create(&path).unwrap();
    for (key, bytes) in [("a", "1"), ("b/c", "22"), ("b/\u{e9}", "333"), ("d", "")] {
        draft.put(key, bytes.as_bytes()).unwrap();
    }
    assert_eq!(names(folder.path()), [""; 0], "nothing is there before the first commit");
    draft.commit().unwrap();
    let before = opened(&path).unwrap();
    draft.put("a", b"new").unwrap();
    draft.delete("d").unwrap();
    draft.delete("never").unwrap();
    draft.put("e", b"5").unwrap();
    draft.delete("e").unwrap();
    assert_eq!(get(&draft, "a").unwrap(), b"new");
    assert_eq!(get(&*opened(&path).unwrap(), "a").unwrap(), b"1");
    draft.commit().unwrap();
    // Who has the old file open goes on reading it.
    assert_eq!(get(&*before, "d").unwrap(), b"");
    let check = |store: &dyn Store| {
        let wanted: [(&str, Option<&[u8]>); 5] =
            [("a", Some(b"new")), ("b/c", Some(b"22")), ("b/\u{e9}", Some(b"333")), ("d", None), ("e", None)];
        for (key, bytes) in wanted {
            assert_eq!(get(store, key).as_deref(), bytes, "{key}");
        }
        assert_eq!(store.list("").unwrap().objects, ["a"]);
        assert_eq!(store.list("b").unwrap().objects, ["c", "\u{e9}"]);
    };
    check(&draft);
    check(&*opened(&path).unwrap());
    let about = std::fs::metadata(&path).unwrap();
    draft.commit().unwrap();
    draft.delete("never").unwrap();
    draft.commit().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), about.ino(), "nothing changed");
    drop(draft);
    check(&ZipDraft::open(&path).unwrap());
    assert_eq!(names(folder.path()), ["a.zip"]);
}

#[test]
fn a_commit_that_fails_leaves_the_file_and_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("f")).unwrap();
    let path = one(&folder.path().join("f"));
    let moved = folder.path().join("moved");
    let draft = ZipDraft::open(&path).unwrap();
    draft.put("a", b"2").unwrap();
    std::fs::rename(&path, &moved).unwrap();
    assert_eq!(draft.commit().unwrap_err().code, errno::NOENT);
    std::fs::create_dir(&path).unwrap();
    draft.commit().unwrap_err();
    assert_eq!(get(&*opened(&moved).unwrap(), "a").unwrap(), b"1");
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(&moved, &path).unwrap();
    assert_eq!(get(&draft, "a").unwrap(), b"2");
    draft.commit().unwrap();
    assert_eq!(get(&*opened(&path).unwrap(), "a").unwrap(), b"2");
}

#[test]
fn a_file_that_another_writer_replaced_or_made_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let [created, new] = [ZipDraft::create(&path).unwrap(), ZipDraft::create_new(&path).unwrap()];
    one(folder.path());
    let [first, second] = [without_lock(&path), without_lock(&path)];
    for draft in [&created, &new, &first, &second] {
        draft.put("b", b"lost").unwrap();
    }
    first.commit().unwrap();
    let errors = [&created, &new, &second].map(|draft| draft.commit().unwrap_err());
    assert_eq!(
        errors.each_ref().map(|error| error.code),
        [errno::STALE, Code::EEXIST, errno::STALE],
        "{errors:?}"
    );
    assert!(errors[2].what.contains("another writer replaced the zip file"), "{}", errors[2]);
    assert_eq!(ZipDraft::create_new(&path).unwrap_err().code, Code::EEXIST);
    let store = opened(&path).unwrap();
    assert_eq!([get(&*store, "a").unwrap(), get(&*store, "b").unwrap()], [&b"1"[..], b"lost"]);
    assert_eq!(names(folder.path()), ["a.zip"]);
}

#[test]
fn a_writer_holds_the_lock_from_its_first_commit_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let is_refused = |second: Result<ZipDraft>| second.is_err_and(|error| error.code == errno::AGAIN);
    let is_locked = || [is_refused(ZipDraft::open(&path)), is_refused(ZipDraft::create(&path))];
    let draft = ZipDraft::create(&path).unwrap();
    for count in [b"1", b"2"] {
        draft.put("a", count).unwrap();
        draft.commit().unwrap();
        assert_eq!(is_locked(), [true; 2]);
    }
    drop(draft);
    let draft = ZipDraft::open(&path).unwrap();
    assert_eq!(is_locked(), [true; 2]);
    draft.put("a", b"3").unwrap();
    draft.commit().unwrap();
    assert_eq!(is_locked(), [true; 2]);
    drop(draft);
    assert_eq!(is_locked(), [false; 2]);
}

#[test]
fn a_commit_holds_the_lock_of_the_folder_from_the_check_to_the_rename() {
    let folder = tempfile::tempdir().unwrap();
    let path = one(folder.path());
    let drafts = [without_lock(&path), without_lock(&path)];
    for (number, draft) in drafts.iter().enumerate() {
        draft.put(&number.to_string(), b"put").unwrap();
    }
    let lock = File::open(folder.path()).unwrap();
    assert!(locks::lock(&lock, locks::Sharing::Exclusive).unwrap());
    let done = std::thread::scope(|scope| {
        let commits = drafts.each_ref().map(|draft| scope.spawn(|| draft.commit()));
        std::thread::sleep(Duration::from_millis(100));
        assert!(get(&*opened(&path).unwrap(), "0").or(get(&*opened(&path).unwrap(), "1")).is_none());
        locks::unlock(&lock);
        commits.map(|commit| commit.join().unwrap())
    });
    let store = opened(&path).unwrap();
    for (number, done) in done.iter().enumerate() {
        assert_eq!(get(&*store, &number.to_string()).is_some(), done.is_ok(), "{done:?}");
    }
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1, "{done:?}");
}

#[test]
fn each_step_of_a_commit_may_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    for is_there in [false, true] {
        let mut failures = 0;
        for step in 0.. {
            let _ = std::fs::remove_file(&path);
            let mut draft = ZipDraft::create(&path).unwrap();
            if is_there {
                drop(draft);
                one(folder.path());
                draft = ZipDraft::open(&path).unwrap();
            }
            let draft = draft.durable(true);
            draft.put("b", b"2").unwrap();
            fail_at(Some(step));
            let done = draft.commit();
            if fail_at(None) {
                done.unwrap();
                assert!(failures > 10, "{failures} steps");
                break;
            }
            // A file system on which nameless files cannot get a name serves as well.
            if let Err(error) = done {
                failures += 1;
                assert_eq!(error.code, errno::IO, "{error}");
                assert!(error.what.starts_with(&*path.to_string_lossy()), "{error}");
                // Only the folder may fail to be flushed behind the rename.
                if !error.what.contains("flushing its folder") {
                    let found = opened(&path).ok();
                    assert_eq!(found.is_some(), is_there);
                    assert!(found.is_none_or(|store| get(&*store, "b").is_none()), "step {step}: {error}");
                }
            }
            assert_eq!(get(&draft, "b").unwrap(), b"2");
            draft.commit().unwrap();
            let store = opened(&path).unwrap();
            assert_eq!(get(&*store, "b").unwrap(), b"2", "step {step}");
            assert_eq!(get(&*store, "a").is_some(), is_there);
            assert_eq!(names(folder.path()), ["a.zip"], "step {step}");
        }
    }
}

#[test]
fn a_durable_commit_flushes_the_folder_until_that_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let path = one(folder.path());
    let mut draft = ZipDraft::open(&path).unwrap().durable(true);
    draft.put("b", b"2").unwrap();
    // The folder cannot be flushed.
    let own = draft.folder.take();
    assert_eq!(draft.commit().unwrap_err().code, errno::ACCES);
    assert_eq!(get(&*opened(&path).unwrap(), "b").unwrap(), b"2");
    assert_eq!(draft.commit().unwrap_err().code, errno::ACCES, "it is still to be flushed");
    draft.folder = own;
    draft.commit().unwrap();
    draft.folder = None;
    draft.sync().unwrap();
}

#[test]
fn links_are_followed_and_paths_are_absolute() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = one(folder.path());
    let [link, dangling] = ["link.zip", "dangling.zip"].map(|name| other.path().join(name));
    symlink(&path, &link).unwrap();
    symlink("new.zip", &dangling).unwrap();
    for draft in [ZipDraft::open(&link), ZipDraft::create(&dangling)] {
        let draft = draft.unwrap();
        draft.put("b", b"2").unwrap();
        draft.commit().unwrap();
    }
    assert!(
        link.symlink_metadata().unwrap().is_symlink() && dangling.symlink_metadata().unwrap().is_symlink()
    );
    assert_eq!(get(&*opened(&path).unwrap(), "b").unwrap(), b"2");
    assert_eq!(names(other.path()), ["dangling.zip", "link.zip", "new.zip"]);
    symlink("circle.zip", other.path().join("circle.zip")).unwrap();
    assert_eq!(ZipDraft::create(&other.path().join("circle.zip")).unwrap_err().code, Code::EINVAL);
    // The folder of the process may change before the commit.
    let relative = ZipDraft::create(Path::new("relative.zip")).unwrap();
    assert_eq!(relative.path, std::env::current_dir().unwrap().canonicalize().unwrap().join("relative.zip"));
    assert_eq!(relative.name(), "relative.zip");
}

#[test]
fn what_cannot_be_replaced_is_refused_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = one(folder.path());
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for path in [&pipe, Path::new("/dev/null"), folder.path()] {
        for refused in [ZipDraft::open(path), ZipDraft::create(path)] {
            let error = refused.unwrap_err();
            assert_eq!(error.code, Code::EINVAL, "{error}");
        }
    }
    std::fs::hard_link(&path, folder.path().join("other.zip")).unwrap();
    for refused in [ZipDraft::open(&path), ZipDraft::create(&path)] {
        assert_eq!(refused.unwrap_err().code, errno::MLINK);
    }
    assert_eq!(ZipDraft::open(&folder.path().join("none/a.zip")).unwrap_err().code, errno::NOENT);
}

#[test]
fn mode_of_an_old_file_is_kept_and_that_of_a_new_one_is_as_usual() {
    let folder = tempfile::tempdir().unwrap();
    let path = one(folder.path());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
    let usual = folder.path().join("usual");
    std::fs::write(&usual, "").unwrap();
    assert_eq!(mode(&path), mode(&usual));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    for draft in [ZipDraft::open, ZipDraft::create] {
        let draft = draft(&path).unwrap();
        draft.put("b", b"2").unwrap();
        draft.commit().unwrap();
        assert_eq!(mode(&path), 0o640);
    }
}

/// Returns a member of a zip file, its entry in the directory of a file where the member begins at `at`, and the same entry for one where
/// it begins at `moved`. Everything in it is unusual.
fn unusual(
    name: &[u8],
    (flags, method): (u16, u16),
    behind: &[u8],
) -> (Vec<u8>, impl Fn(u32) -> Vec<u8> + use<>) {
    let bytes = b"stored bytes";
    let common = [
        &flags.to_le_bytes()[..],
        &method.to_le_bytes(),
        &[0x21, 0x42, 0x51, 0x52],
        &libdeflater::crc32(bytes).to_le_bytes(),
        &12u32.to_le_bytes(),
        &12u32.to_le_bytes(),
        &(name.len() as u16).to_le_bytes(),
    ]
    .concat();
    let member =
        [b"PK\x03\x04\x14\0", &common[..], &[5, 0], name, b"\xab\xcd\x01\0x", bytes, behind].concat();
    let name = name.to_vec();
    let entry = move |at: u32| {
        let before = [&b"PK\x01\x02\x17\x03\x14\0"[..], &common, &[9, 0, 7, 0, 0, 0, 1, 0]].concat();
        let behind = [&[0, 0, 0xed, 0x81][..], &at.to_le_bytes(), &name, b"\xab\xcd\x05\0extra", b"comment"];
        [before, behind.concat()].concat()
    };
    (member, entry)
}

/// Returns the directory and the end of a zip file.
fn directory(entries: &[Vec<u8>], begin: usize) -> Vec<u8> {
    let (count, entries) = (entries.len() as u16, entries.concat());
    let numbers = [entries.len() as u32, begin as u32].map(u32::to_le_bytes).concat();
    let counts = [0, 0, count, count].map(u16::to_le_bytes).concat();
    [&entries[..], b"PK\x05\x06", &counts, &numbers, b"\x0b\0the comment"].concat()
}

#[test]
fn all_that_an_edit_does_not_change_is_kept_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let descriptor =
        [&b"PK\x07\x08"[..], &libdeflater::crc32(b"stored bytes").to_le_bytes(), &[12, 0, 0, 0, 12, 0, 0, 0]]
            .concat();
    let members = [
        unusual(b"v/0", (0, 0), b""),
        unusual(b"streamed", (1 << 3, 0), &descriptor),
        unusual(b"changed", (0, 0), b""),
        unusual(b"deleted", (1 << 3, 0), &descriptor),
        unusual(b"encrypted", (1, 0), b""),
        unusual(b"bzip2", (0, 12), b""),
        unusual(b"folder/", (0, 0), b""),
        unusual(b"../up", (0, 0), b""),
        unusual(b"\x82", (0, 0), b""),
    ];
    for (prefix, counts) in [(&b""[..], true), (b"#!/bin/sh\n", true), (b"#!/bin/sh\n", false)] {
        let pack = |kept: &[usize]| {
            let mut file = prefix.to_vec();
            let shift = if counts { 0 } else { prefix.len() };
            let mut entries = vec![];
            for (member, entry) in kept.iter().map(|&at| &members[at]) {
                entries.push(entry((file.len() - shift) as u32));
                file.extend(member);
            }
            let begin = file.len() - shift;
            (file, entries, begin)
        };
        let (mut file, entries, begin) = pack(&[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        file.extend(directory(&entries, begin));
        std::fs::write(&path, &file).unwrap();
        let draft = ZipDraft::open(&path).unwrap();
        draft.put("changed", b"new").unwrap();
        draft.delete("deleted").unwrap();
        draft.commit().unwrap();
        let (mut wanted, mut entries, begin) = pack(&[0, 1, 4, 5, 6, 7, 8]);
        let found = std::fs::read(&path).unwrap();
        assert!(found.starts_with(&wanted), "{prefix:?} {counts}");
        let added = 30 + 7 + 3;
        wanted.extend(&found[wanted.len()..][..added]);
        entries.push(found[wanted.len() + entries.concat().len()..][..46 + 7].to_vec());
        wanted.extend(directory(&entries, begin + added));
        assert!(found == wanted, "{prefix:?} {counts}");
        assert_eq!(get(&draft, "changed").unwrap(), b"new");
        for key in ["v/0", "streamed"] {
            assert_eq!(get(&draft, key).unwrap(), b"stored bytes");
        }
        for key in ["encrypted", "bzip2"] {
            let error = draft.get(key, ByteRange::All).unwrap_err();
            assert!(error.code == Code::ENOTBUILT && error.what.starts_with(key), "{error}");
        }
    }
}

#[test]
fn more_members_than_16_bits_can_count_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let draft = ZipDraft::create(&path).unwrap();
    let key = |number: u32| format!("v/{:x}/{number}", number % 64);
    for number in 0..66_000 {
        draft.put(&key(number), &number.to_le_bytes()).unwrap();
    }
    draft.commit().unwrap();
    drop(draft);
    // With something before the zip file, whose length its positions do not count.
    let file = [&b"#!/bin/sh\n"[..], &std::fs::read(&path).unwrap()].concat();
    std::fs::write(&path, file).unwrap();
    let draft = ZipDraft::open(&path).unwrap();
    draft.put("new", b"n").unwrap();
    draft.delete(&key(0)).unwrap();
    draft.commit().unwrap();
    let store = opened(&path).unwrap();
    assert_eq!(get(&*store, &key(0)), None);
    for number in [1, 65_534, 65_535, 65_536, 65_999] {
        assert_eq!(get(&*store, &key(number)).unwrap(), number.to_le_bytes());
    }
    assert_eq!(store.list("v").unwrap().folders.len(), 64);
    assert_eq!(get(&*store, "new").unwrap(), b"n");
    assert!(std::fs::read(&path).unwrap().starts_with(b"#!/bin/sh\nPK\x03\x04"));
}

#[test]
fn objects_are_found_while_another_thread_commits() {
    let folder = tempfile::tempdir().unwrap();
    let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
    let keys: Vec<String> = (0..50).map(|number| format!("v/{number}")).collect();
    let put = || keys.iter().for_each(|key| drop(draft.put(key, b"bytes").unwrap()));
    put();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    keys.iter().for_each(|key| assert_eq!(get(&draft, key).unwrap(), b"bytes", "{key}"));
                }
            });
        }
        let committed = (0..20).try_for_each(|_| {
            put();
            draft.commit()
        });
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        committed.unwrap();
    });
}

#[test]
fn listings_are_those_of_all_keys() {
    let folder = tempfile::tempdir().unwrap();
    let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
    let model = crate::MemoryStore::default();
    let mut rng = Rng::new(7);
    let names = ["a", "a-b", "a0", "b", "\u{e9}"];
    for _ in 0..2000 {
        let depth = 1 + rng.below(3);
        let key = (0..depth).map(|_| names[rng.below(5) as usize]).collect::<Vec<_>>().join("/");
        match rng.below(10) {
            0..4 => drop((draft.put(&key, b"x").unwrap(), model.put(&key, b"x").unwrap())),
            4..7 => drop((draft.delete(&key).unwrap(), model.delete(&key).unwrap())),
            7 if rng.below(10) == 0 => draft.commit().unwrap(),
            _ => assert_eq!(draft.list(&key).unwrap(), model.list(&key).unwrap(), "{key}"),
        }
    }
    assert_eq!(draft.list("").unwrap(), model.list("").unwrap());
}

#[test]
fn space_of_an_object_that_was_put_again_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
    let blob = crate::MemoryBlob::new(vec![7; 1 << 20]);
    for _ in 0..20 {
        draft.put("a", &[5; 1 << 20]).unwrap();
        draft.put_blob("b", &blob).unwrap();
    }
    let used = draft.state().pending.as_ref().unwrap().blob().file().metadata().unwrap().blocks() * 512;
    assert!(used < 8 << 20, "{used} bytes");
    draft.commit().unwrap();
    assert!(get(&draft, "a").unwrap() == [5; 1 << 20] && get(&draft, "b").unwrap() == [7; 1 << 20]);
}

#[test]
fn a_key_that_no_member_can_have_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
    assert_eq!(draft.put(&"a".repeat(65_536), b"").unwrap_err().code, Code::EMAXNAME);
    draft.put(&"a".repeat(65_535), b"1").unwrap();
    draft.commit().unwrap();
    assert_eq!(get(&draft, &"a".repeat(65_535)).unwrap(), b"1");
}
