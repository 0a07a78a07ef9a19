//! A dataset of the toy format.

/// Returns a dataset with a matrix of 3 rows and 4 columns whose first dimension is the fastest, and a table of 5 rows
/// and 3 columns in chunks of 2 rows and 2 columns, of which one is missing and some reach beyond it.
pub fn bytes() -> Vec<u8> {
    const DATA: usize = 128;
    let chunks = [DATA + 48, DATA + 64, 0, DATA + 80, DATA + 96, DATA + 112];
    let positions: Vec<String> = chunks.iter().map(ToString::to_string).collect();
    let mut bytes =
        format!("TOY1\nmatrix 2 3 4 columns {DATA}\ntable 2 5 3 chunks 2 2 {}\n\n", positions.join(" "))
            .into_bytes();
    assert!(bytes.len() <= DATA);
    bytes.resize(DATA, b' ');
    for number in 0..12 + 5 * 4 {
        bytes.extend((number as f32 - 7.0).to_be_bytes());
    }
    bytes
}
