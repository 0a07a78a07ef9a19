"""Edits and tells netCDF-4 files as the module netCDF4 does: a request in JSON on each line, an answer on each.

{"do": "edit", "path", "create", "operations"} makes or opens a file for writing, does what the operations say, and closes
it: the answer is null, or the number of the operation that failed and why. {"do": "tell", "path", "skip"} answers with all that
is in the file, but for the values of the variables to skip. {"do": "scales", "path"} answers what h5py finds: the scales that each dataset is attached to, and what
its scales say of it. The operations and the form of the answers are those of `tests/hdf5/alternate`.
"""

import ctypes
import json
import os
import sys
import warnings

import netCDF4
import numpy as np

warnings.simplefilter("ignore")

NUMBERS = {"byte": "i1", "short": "i2", "int": "i4", "float": "f4", "double": "f8", "ubyte": "u1", "ushort": "u2",
           "uint": "u4", "int64": "i8", "uint64": "u8", "char": "S1"}
NAMES = {value: name for name, value in NUMBERS.items()}
ATOMIC = ["", "byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64", "string"]
# Arrays of these go to the library as they are: Debian's module mistakes the order of bytes.
PLAIN = {"i1": "schar", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint", "i8": "longlong",
         "u8": "ulonglong", "f4": "float", "f8": "double", "S1": "text"}
STORAGE = {0: "chunked", 1: "contiguous", 2: "compact"}
BITS = {"f4": "u4", "f8": "u8"}


def library():
    """The reference below the module: what the module does not say is asked there."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "libnetcdf" in line)
    return ctypes.CDLL(path)


C = library()


def checked(code):
    if code != 0:
        raise RuntimeError(f"error {code}")


def code_of(dtype):
    return f"{dtype.kind}{dtype.itemsize}"


def cell(value):
    """A value of an array in JSON; those of floats are their bits."""
    if isinstance(value, np.void) and value.dtype.names:
        return [[cell(each) for each in np.atleast_1d(value[name]).ravel()] for name in value.dtype.names]
    if isinstance(value, np.ndarray):
        return [cell(each) for each in value.ravel()]
    if isinstance(value, (bytes, np.bytes_)):
        return value[0] if len(value) else 0
    if isinstance(value, str):
        return value
    value = np.asarray(value)
    if value.dtype.kind == "f":
        return format(int(value.view(BITS[code_of(value.dtype)])), "x")
    return int(value)


def cells(array):
    """All values of an array of whatever type."""
    return [cell(each) for each in array.ravel()]


def numbers(kind, values):
    """The array of some cells of an atomic type."""
    code = NUMBERS[kind]
    if kind == "char":
        return np.array([bytes([value]) for value in values], "S1")
    if code in BITS:
        return np.array([int(value, 16) for value in values], BITS[code]).view(code)
    return np.array(values, code)


def group_at(file, path):
    return file if path == "/" else file[path]


def types_of(file):
    found = {}
    for of in [file, *(file.groups.values())]:
        for kind in (of.cmptypes, of.vltypes, of.enumtypes):
            found.update(kind)
        if of is not file:
            found.update(types_of(of))
    return found


def array_of(file, var, kind, values, shape):
    """What a variable of a type takes for some cells."""
    if kind in NUMBERS:
        return numbers(kind, values).reshape(shape)
    made = np.empty(len(values), object)
    if kind == "string":
        made[:] = values
        return made.reshape(shape)
    user = types_of(file)[kind]
    if isinstance(user, netCDF4.EnumType):
        return np.array(values, user.dtype).reshape(shape)
    if isinstance(user, netCDF4.VLType):
        for at, value in enumerate(values):
            made[at] = numbers(NAMES[code_of(user.dtype)], value)
        return made.reshape(shape)
    made = np.zeros(len(values), user.dtype)
    for at, value in enumerate(values):
        for name, part in zip(user.dtype.names, value):
            field = user.dtype[name]
            part = numbers(NAMES[code_of(field.base)], part)
            made[at][name] = part.reshape(field.shape) if field.shape else part[0]
    return made.reshape(shape)


def define_type(group, op):
    what, base = op["class"], op["base"]
    if what == "enum":
        group.createEnumType(np.dtype(NUMBERS[base]), op["name"], op["members"])
    elif what == "vlen":
        group.createVLType(np.dtype(NUMBERS[base]), op["name"])
    else:
        fields = [(name, NUMBERS[of], tuple(shape)) for name, of, shape in base]
        group.createCompoundType(np.dtype(fields, align=True), op["name"])


def define_var(file, group, op):
    kind = op["type"]
    datatype = str if kind == "string" else NUMBERS[kind] if kind in NUMBERS else types_of(file)[kind]
    more = {}
    if op["storage"] == "contiguous":
        more["contiguous"] = True
    elif isinstance(op["storage"], list):
        more["chunksizes"] = op["storage"]
    if op["deflate"] is not None:
        more.update(compression="zlib", complevel=op["deflate"])
    more.update(shuffle=op["shuffle"], fletcher32=op["fletcher32"], endian=op["endian"])
    if op["fill"] is not None:
        more["fill_value"] = numbers(kind, [op["fill"]])[0]
    group.createVariable(op["name"], datatype, op["dims"], **more)


def put(file, group, op):
    var = group.variables[op["var"]]
    var.set_auto_maskandscale(False)
    data = array_of(file, var, op["type"], op["cells"], op["count"])
    if op["type"] in NUMBERS:
        call = C["nc_put_vars_" + PLAIN[code_of(data.dtype)]]
        box = [(ctypes.c_size_t * max(1, len(op[key])))(*op[key]) for key in ("start", "count", "stride")]
        data = np.ascontiguousarray(data)
        checked(call(var._grpid, var._varid, *box, ctypes.c_void_p(data.ctypes.data)))
        return
    if not op["count"]:
        var[...] = data.item() if data.dtype == object else data
        return
    steps = zip(op["start"], op["count"], op["stride"])
    var[tuple(slice(start, start + (count - 1) * step + 1, step) for start, count, step in steps)] = data


def put_attribute(owner, op):
    kind, values = op["type"], op["cells"]
    if kind == "char":
        owner.setncattr(op["name"], bytes(values).decode())
    elif kind == "string":
        owner.setncattr_string(op["name"], values[0] if len(values) == 1 else values)
    else:
        owner.setncattr(op["name"], numbers(kind, values))


def do(file, op):
    """Does an operation. The modes of the classic model, where the module leaves them to others, are taken care of."""
    what, group = op["do"], group_at(file, op.get("in", "/"))
    if what == "dim":
        group.createDimension(op["name"], op["len"])
    elif what == "group":
        group.createGroup(op["name"])
    elif what == "type":
        define_type(group, op)
    elif what == "var":
        define_var(file, group, op)
    elif what == "put":
        put(file, group, op)
    elif what == "rename dim":
        group.renameDimension(op["name"], op["to"])
    elif what == "rename var":
        group.renameVariable(op["name"], op["to"])
    elif what == "rename group":
        group.renameGroup(op["name"], op["to"])
    elif what == "sync":
        C.nc_enddef(file._grpid)
        file.sync()
    else:
        owner = group if op["var"] is None else group.variables[op["var"]]
        if what == "att":
            put_attribute(owner, op)
        elif what == "delete att":
            owner.delncattr(op["name"])
        elif what == "rename att":
            C.nc_redef(file._grpid)
            owner.renameAttribute(op["name"], op["to"])
            C.nc_enddef(file._grpid)
        else:
            raise ValueError(what)


def edit(request):
    made = {"format": request["create"]} if request["create"] else {}
    file = netCDF4.Dataset(request["path"], "w" if made else "r+", **made)
    try:
        for number, op in enumerate(request["operations"]):
            try:
                do(file, op)
            except Exception as error:
                return [number, repr(error)]
    finally:
        file.close()
    return None


def type_name(file, grpid, number):
    if number <= 12:
        return ATOMIC[number]
    name = ctypes.create_string_buffer(257)
    C.nc_inq_user_type(grpid, number, name, None, None, None, None)
    return name.value.decode()


def attributes(file, owner, grpid, varid):
    told = {}
    for name in owner.ncattrs():
        kind = ctypes.c_int()
        C.nc_inq_atttype(grpid, varid, name.encode(), ctypes.byref(kind))
        kind = type_name(file, grpid, kind.value)
        value = owner.getncattr(name)
        if kind == "char":
            value = list(value if isinstance(value, bytes) else value.encode())
        elif kind == "string":
            value = [value] if isinstance(value, str) else list(value)
        else:
            value = cells(np.atleast_1d(value))
        told[name] = [kind, value]
    return told


def dimensions(of):
    """The paths of dimensions by their ids: the module goes by their names."""
    found = {dim._dimid: of.path.rstrip("/") + "/" + name for name, dim in of.dimensions.items()}
    for child in of.groups.values():
        found.update(dimensions(child))
    return found


def variable(file, var, skip):
    at = var._grpid, var._varid
    dims, paths = (ctypes.c_int * max(1, var.ndim))(), dimensions(file)
    C.nc_inq_vardimid(*at, dims)
    storage, chunks = ctypes.c_int(), (ctypes.c_size_t * max(1, var.ndim))()
    C.nc_inq_var_chunking(*at, ctypes.byref(storage), chunks)
    count = ctypes.c_size_t()
    C.nc_inq_var_filter_ids(*at, ctypes.byref(count), None)
    ids = (ctypes.c_uint * max(1, count.value))()
    C.nc_inq_var_filter_ids(*at, ctypes.byref(count), ids)
    kind, endian = ctypes.c_int(), ctypes.c_int()
    C.nc_inq_vartype(*at, ctypes.byref(kind))
    C.nc_inq_var_endian(*at, ctypes.byref(endian))
    storage = STORAGE[storage.value]
    filters = var.filters() or {}
    told = {
        "type": type_name(file, at[0], kind.value),
        "dims": [paths[dim] for dim in dims[: var.ndim]],
        "storage": chunks[: var.ndim] if storage == "chunked" else storage,
        "filters": ids[: count.value],
        "deflate": filters.get("complevel") if filters.get("zlib") else None,
        "shuffle": filters.get("shuffle", False),
        "fletcher32": filters.get("fletcher32", False),
        "big": endian.value == 2,
        "atts": attributes(file, var, *at),
    }
    if skip:
        return told
    var.set_auto_maskandscale(False)
    if told["type"] in NUMBERS:
        code = NUMBERS[told["type"]]
        value = np.zeros(var.shape, code)
        checked(C["nc_get_var_" + PLAIN[code]](*at, ctypes.c_void_p(value.ctypes.data)))
    else:
        value = var[...]
    if var.ndim == 0:
        single = isinstance(var.datatype, netCDF4.VLType) or isinstance(value, str)
        told["data"] = [cell(value) if single else cell(value[()])]
    else:
        told["data"] = cells(value)
    return told


def type_told(kind):
    if isinstance(kind, netCDF4.EnumType):
        members = sorted(kind.enum_dict.items(), key=lambda member: member[1])
        return ["enum", NAMES[code_of(kind.dtype)], [[name, int(value)] for name, value in members]]
    if isinstance(kind, netCDF4.VLType):
        return ["vlen", NAMES[code_of(kind.dtype)], []]
    fields = [(name, kind.dtype[name]) for name in kind.dtype.names]
    return ["compound", [[name, NAMES[code_of(of.base)], list(of.shape)] for name, of in fields], []]


def tell_group(file, of, told, skipped):
    types = [*of.cmptypes.items(), *of.vltypes.items(), *of.enumtypes.items()]
    told[of.path] = {
        "dims": {name: [dim.size, dim.isunlimited()] for name, dim in of.dimensions.items()},
        "types": {name: type_told(kind) for name, kind in sorted(types)},
        "atts": attributes(file, of, of._grpid, -1),
        "vars": {name: variable(file, var, [of.path, name] in skipped) for name, var in of.variables.items()},
    }
    for child in of.groups.values():
        tell_group(file, child, told, skipped)


def tell(request):
    with netCDF4.Dataset(request["path"]) as file:
        groups = {}
        tell_group(file, file, groups, request["skip"])
        return {"classic": file.data_model == "NETCDF4_CLASSIC", "groups": groups}


def scales(request):
    import h5py

    told = {}

    def visit(name, of):
        if not isinstance(of, h5py.Dataset):
            return
        attached = []
        if "DIMENSION_LIST" in of.attrs:
            attached = [[of.file[each].name for each in refs] for refs in of.attrs["DIMENSION_LIST"]]
        users = None
        if h5py.h5ds.is_scale(of.id):
            listed = of.attrs["REFERENCE_LIST"] if "REFERENCE_LIST" in of.attrs else []
            users = sorted([of.file[ref].name, int(axis)] for ref, axis in listed)
        told["/" + name] = [attached, users]

    with h5py.File(request["path"]) as file:
        file.visititems(visit)
    return told


ANSWERS = {"edit": edit, "tell": tell, "scales": scales}

# What the libraries print of their own is not an answer.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = ANSWERS[request["do"]](request)
    except Exception as error:
        answer = {"failed": repr(error)}
    print(json.dumps(answer), file=answers, flush=True)
