//! Scientific Datasets.
