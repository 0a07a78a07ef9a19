//! Names that are changed in a Zarr store: those of dimensions and attributes at any time, those of variables and groups before they are
//! committed.

use ferrocdf::model::Chunking;
use ferrocdf::{
    Atomic, Code, Container, CreateOptions, DataModel, DimId, File, FileMut, Format, GroupId, Name, Owner,
    Result, Values, VarId,
};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// Defines a dataset, of which a variable and a group get other names at once.
fn define(file: &FileMut) -> Result<()> {
    file.define(|model| {
        let time = model.def_dim(GroupId::ROOT, "time", None)?;
        let x = model.def_dim(GroupId::ROOT, "x", Some(3))?;
        let group = model.def_group(GroupId::ROOT, "outer")?;
        for (group, name) in [(GroupId::ROOT, "first"), (group, "inner")] {
            let var = model.def_var(group, name, Atomic::Int.into(), &[time, x])?;
            model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![1, 2]));
            model.put_attr(Owner::Var(var), "units", Values::Char(b"K".to_vec()))?;
        }
        model.put_attr(Owner::Group(GroupId::ROOT), "title", Values::Int(vec![1]))?;
        model.def_var(GroupId::ROOT, "x", Atomic::Int.into(), &[x])?;
        Ok(())
    })?;
    file.define(|model| {
        model.rename_var(VarId(0), name("v"))?;
        model.rename_group(GroupId(1), "g")
    })
}

/// Writes a step of the variables that have one.
fn write(file: &FileMut, step: u64, first: i32) -> Result<()> {
    let vars: Vec<VarId> =
        file.model().var_ids().filter(|&var| file.model().var(var).dims.len() == 2).collect();
    for var in vars {
        let values = Values::Int((first..first + 3).collect());
        let _exact = file.write_values(var, &[step, 0], &[1, 3], &values)?;
    }
    Ok(())
}

#[test]
fn dimensions_and_attributes_get_other_names_and_keep_their_data() {
    let folder = tempfile::tempdir().unwrap();
    let containers = [Container::ZarrV2, Container::ZarrV3];
    for (container, nczarr) in
        containers.into_iter().flat_map(|container| [(container, true), (container, false)])
    {
        let mut options = CreateOptions::format(Format::new(container, DataModel::Netcdf4));
        options.zarr.nczarr = nczarr;
        let path = folder.path().join(format!("{container:?}{nczarr}.zarr"));
        let file = FileMut::create(&path, &options).unwrap();
        define(&file).unwrap();
        write(&file, 0, 0).unwrap();
        write(&file, 1, 5).unwrap();
        file.close().unwrap();
        assert!(path.join("v").is_dir() && path.join("g/inner").is_dir() && !path.join("first").exists());

        let file = FileMut::append(&path).unwrap();
        let ids: Vec<DimId> = ["time", "x"]
            .iter()
            .map(|name| file.model().find_dim(GroupId::ROOT, name.as_bytes()).unwrap())
            .collect();
        let var = file.model().find_var(GroupId::ROOT, b"v").unwrap();
        let rename = |model: &mut ferrocdf::Model| {
            model.rename_dim(ids[0], name("t"))?;
            model.rename_dim(ids[1], name("longitude"))?;
            model.rename_attr(Owner::Var(var), "units", name("unit"))?;
            model.rename_attr(Owner::Group(GroupId::ROOT), "title", name("heading"))
        };
        file.define(rename).unwrap();
        for refused in [
            file.define(|model| model.rename_var(var, name("w"))),
            file.define(|model| model.rename_group(GroupId(1), "h")),
        ] {
            let error = refused.unwrap_err();
            assert_eq!(error.code, Code::ENCZARR, "{error}");
        }
        write(&file, 1, 10).unwrap();
        file.close().unwrap();

        let file = File::open(&path).unwrap();
        let model = file.model();
        let group = model.find_group(GroupId::ROOT, b"g").unwrap();
        // Without netCDF's metadata each group has dimensions of its own.
        let of_group = if nczarr { ["t", "longitude"] } else { ["time", "x"] };
        for (group, var, wanted) in [(GroupId::ROOT, "v", ["t", "longitude"]), (group, "inner", of_group)] {
            let var = model.find_var(group, var.as_bytes()).unwrap();
            let dims = model.var(var).dims.iter().map(|&dim| model.dim(dim).name.to_str().into_owned());
            assert_eq!(dims.collect::<Vec<_>>(), wanted, "{container:?} {nczarr}");
            let all = file.read_values(var, &[0, 0], &[2, 3]).unwrap();
            assert_eq!(all, Values::Int(vec![0, 1, 2, 10, 11, 12]));
        }
        let var = model.find_var(GroupId::ROOT, b"v").unwrap();
        let units =
            |name: &str| model.attrs(Owner::Var(var)).find(name.as_bytes()).map(|attr| attr.value.clone());
        let of_root = |name: &str| model.attrs(Owner::Group(GroupId::ROOT)).find(name.as_bytes()).is_some();
        assert_eq!([units("unit"), units("units")], [Some(Values::Char(b"K".to_vec())), None]);
        assert_eq!([of_root("heading"), of_root("title")], [true, false]);
    }
}
