//! Files of fastparquet and pyarrow, our own, and damaged ones. The files in `tests/data/parquet` were made with fastparquet 2026.9.0 and
//! pyarrow 26.0.1; their names say how.

use std::cell::Cell;

use ferrocdf_bytes::Code;

use super::pages::{ColumnReader, PageFormat};
use super::thrift::{MAX_METADATA, StructWriter};
use super::*;

/// Most bytes of decoded pages.
const BUDGET: usize = 1 << 20;

fn stored(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/parquet/{name}.parq", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Returns a line for each row: path, offset, size, raw.
fn lines(file: &[u8], max_rows: usize) -> ferrocdf_bytes::Result<Vec<String>> {
    let file = ParquetFile::parse(file, max_rows, BUDGET)?;
    let mut columns = vec![];
    for name in ["path", "offset", "size", "raw"] {
        columns.extend(file.column(name)?);
    }
    let value = |column: &Column, row| {
        let index = column.index(row)?;
        let integer = column.integer(index).map(|number| number.to_string());
        integer.or_else(|| column.bytes(index).map(|bytes| bytes.escape_ascii().to_string()))
    };
    let line = |row| columns.iter().map(move |column| value(column, row).unwrap_or_else(|| "-".into()));
    Ok((0..columns.first().map_or(0, |column| column.rows.len()))
        .map(|row| line(row).collect::<Vec<_>>().join(" "))
        .collect())
}

/// Rows of all stored files but one.
fn wanted() -> Vec<String> {
    let path = |row| match row {
        0..=11 => "s3://b/one.nc",
        13..=22 => "/d/two.nc",
        _ => "-",
    };
    let raw = |row| match row {
        12 => "inline \\x00\\xff",
        25 => "",
        _ => "-",
    };
    (0..26).map(|row| format!("{} {} {} {}", path(row), row * 1000, row % 5 * 7 + 1, raw(row))).collect()
}

#[test]
fn files_of_fastparquet_and_pyarrow_have_their_rows() {
    for name in [
        "fast_zstd",
        "fast_category",
        "arrow_zstd",
        "arrow_snappy_v2",
        "arrow_gzip_plain_groups",
        "arrow_none_pages",
    ] {
        let file = stored(name);
        assert_eq!(lines(&file, usize::MAX).unwrap(), wanted(), "{name}");
        assert_eq!(lines(&file, 15).unwrap(), wanted()[..15], "{name}");
    }
    let nulls = ["- 0 0 a", "- 0 0 b", "- 0 0 -", "- 0 0 d"];
    assert_eq!(lines(&stored("arrow_null_path"), 9).unwrap(), nulls);
}

#[test]
fn what_is_not_supported_is_named() {
    for (name, words) in [
        ("arrow_delta", &["path", "encoding DELTA_BYTE_ARRAY"][..]),
        ("arrow_brotli", &["path", "codec BROTLI"]),
    ] {
        let error = lines(&stored(name), 100).unwrap_err();
        assert_eq!(error.code, Code::ENOTBUILT);
        assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
    }
    assert!(ParquetFile::parse(&stored("arrow_zstd"), 9, 9).unwrap().column("else").unwrap().is_none());
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"PAR1\0\0\0\0PAR1"] {
        assert_eq!(lines(bytes, 9).unwrap_err().code, Code::EZARRMETA);
    }
}

/// Makes a file of our own.
fn written(rows: usize) -> (Vec<u8>, Vec<String>) {
    let texts = ["s3://b/one.nc", "/d/two.nc", "é"];
    let path = |row: usize| (row % 7 != 3).then_some((row % 3) as u32);
    let raw = |row: usize| (row % 7 == 3).then_some(&b"\x00raw"[..]);
    let columns = [
        ("path", NewColumn::Texts(&texts, (0..rows).map(path).collect())),
        ("offset", NewColumn::Integers((0..rows as i64).map(|row| row << 33).collect())),
        ("size", NewColumn::Integers(vec![5; rows])),
        ("raw", NewColumn::Bytes((0..rows).map(raw).collect())),
    ];
    let text = |bytes: Option<&[u8]>| bytes.map_or("-".into(), |bytes| bytes.escape_ascii().to_string());
    let line = |row| {
        let path = path(row).map(|index| texts[index as usize].as_bytes());
        format!("{} {} 5 {}", text(path), row << 33, text(raw(row)))
    };
    (write(rows, &columns).unwrap().0, (0..rows).map(line).collect())
}

#[test]
fn own_files_have_the_rows_that_were_written() {
    for rows in [0, 1, 7, 8, 1000] {
        let (file, wanted) = written(rows);
        assert_eq!(lines(&file, usize::MAX).unwrap(), wanted, "{rows}");
    }
    let empty: [(&str, NewColumn<'_>); 1] = [("path", NewColumn::Texts(&[], vec![None; 5]))];
    assert_eq!(lines(&write(5, &empty).unwrap().0, 9).unwrap(), ["-"; 5]);
}

#[test]
fn damaged_files_are_errors_or_other_rows_and_take_little_memory() {
    let (own, _) = written(40);
    let mut files: Vec<Vec<u8>> =
        ["fast_category", "arrow_snappy_v2", "arrow_gzip_plain_groups"].map(stored).into();
    files.push(own);
    for file in files {
        for at in 0..file.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = file.clone();
                bytes[at] ^= flip;
                if let Ok(lines) = lines(&bytes, 5000) {
                    assert!(lines.len() <= 5000);
                }
            }
        }
        // Bytes before the length of the footer and the signature are missing.
        let (front, tail) = file.split_at(file.len() - 8);
        for at in 0..front.len() {
            assert!(lines(&[&front[..at], tail].concat(), 100).is_err(), "{at}");
        }
    }
}

#[test]
fn pages_that_would_take_too_much_memory_are_refused() {
    let (file, _) = written(1000);
    let parsed = ParquetFile::parse(&file, usize::MAX, 9000).unwrap();
    parsed.column("offset").unwrap();
    let error = parsed.column("size").unwrap_err();
    assert!(error.to_string().contains("size: parquet: with 8000 bytes"), "{error}");
}

/// Reads a row of integers that are not encoded, from pages with these headers and 8 bytes behind each, with a budget of 7 bytes.
fn read_row(headers: &[StructWriter]) -> String {
    let pages: Vec<u8> =
        headers.iter().flat_map(|header| [&header.clone().finish()[..], &[0; 8][..]].concat()).collect();
    let format = PageFormat { physical: physical::INT64, codec: codec::UNCOMPRESSED, is_optional: false };
    let reader = ColumnReader { pages: &pages, format, budget: &Cell::new(7) };
    reader.read(1, &mut Column::default()).unwrap_err().to_string()
}

#[test]
fn pages_that_are_not_encoded_take_what_they_have_from_the_budget() {
    let page = |kind, size, id, about| {
        StructWriter::default().i32(1, kind).i32(2, size).i32(3, 8).structure(id, about)
    };
    let dictionary = StructWriter::default().i32(1, 1).i32(2, encoding::PLAIN);
    let error = read_row(&[page(page::DICTIONARY, 0, 7, dictionary.clone())]);
    assert!(error.contains("a page of 0 bytes has 8"), "{error}");
    let data = StructWriter::default().i32(1, 1).i32(4, encoding::PLAIN).i32(5, 0).i32(6, 0);
    // A boolean that is false: the values are not encoded.
    for data in [data.clone().i32(7, 0), data] {
        let error = read_row(&[page(page::DATA_V2, 8, 8, data)]);
        assert!(error.contains("with 8 bytes of a page it takes too much memory"), "{error}");
    }
    let large = dictionary.binary(9, &vec![0; MAX_METADATA]);
    let error = read_row(&[page(page::DICTIONARY, 8, 7, large)]);
    assert!(error.contains("a page has no header"), "{error}");
}
