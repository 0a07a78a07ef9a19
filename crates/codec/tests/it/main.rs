//! Tests of filters and chains. Stored bytes that are not ours were made once by h5py 3.16 on HDF5 2.0 with hdf5plugin 7.1.

mod chain;
mod golden;
mod help;
mod json;
mod params;
mod round_trips;
