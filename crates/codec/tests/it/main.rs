//! Tests of filters and chains. Encoded bytes of other writers are from h5py 3.16 on HDF5 2.0 with hdf5plugin 7.1.

mod chain;
mod golden;
mod help;
mod json;
mod numcodecs;
mod params;
mod round_trips;
