"""Judges what ferrocdf shows of HDF-EOS2 files, and writes such files.

    hdf_eos.py judge FILE COPY     FILE is an HDF-EOS2 file, COPY what `ferrocdf copy --hdfeos` made of it
    hdf_eos.py make FOLDER SEED    writes files with grids of all projections, a swath and a point into FOLDER

Fields are read by pyhdf, corners and projections by a parser of its own from StructMetadata, longitudes and latitudes computed by
PROJ, and corners of grids asked of GDAL. A line is printed for each difference, then one with the numbers of things compared.
"""

import json
import math
import random
import subprocess
import sys

import netCDF4
import numpy as np
import pyproj
from pyhdf.HDF import HC, HDF
from pyhdf.SD import SD, SDC
from pyhdf.V import V  # noqa: F401 (gives HDF its vgstart)
from pyhdf.VS import VS  # noqa: F401 (gives HDF its vstart)

NDG, VH, VG = 720, 1962, 1965
SPHERES = [(6378206.4, 6356583.8), (6378249.145, 6356514.86955), (6377397.155, 6356078.96284),
           (6378157.5, 6356772.2), (6378388.0, 6356911.94613), (6378135.0, 6356750.519915),
           (6377276.3452, 6356075.4133), (6378145.0, 6356759.769356), (6378137.0, 6356752.31414),
           (6377563.396, 6356256.91), (6377304.063, 6356103.039), (6377340.189, 6356034.448),
           (6378137.0, 6356752.314245), (6378155.0, 6356773.3205), (6378160.0, 6356774.719),
           (6378245.0, 6356863.0188), (6378270.0, 6356794.343479), (6378166.0, 6356784.283666),
           (6378150.0, 6356768.337303), (6370997.0, 6370997.0)]


# ---- StructMetadata ----

def metadata(sd):
    """The text, and its groups as nested dictionaries of lists."""
    parts, number = [], 0
    attributes = sd.attributes()
    while f"StructMetadata.{number}" in attributes:
        parts.append(attributes[f"StructMetadata.{number}"].split("\0")[0])
        number += 1
    stack = [("", {})]
    for line in "".join(parts).splitlines():
        line = line.strip()
        if "=" not in line:
            continue
        key, value = line.split("=", 1)
        if key in ("GROUP", "OBJECT"):
            stack.append((value, {}))
        elif key in ("END_GROUP", "END_OBJECT"):
            name, inside = stack.pop()
            stack[-1][1].setdefault("children", []).append((name, inside))
        else:
            stack[-1][1][key] = value
    return stack[0][1]


def inside(node, name):
    return next((child for own, child in node.get("children", []) if own == name), {})


def objects(node, name):
    return [child for _, child in inside(node, name).get("children", [])]


def text(value):
    return value.strip('"')


def listed(value):
    return [item.strip().strip('"') for item in value.strip().strip("()").split(",") if item.strip()]


def unpacked(angle):
    angle = float(angle)
    size = abs(angle)
    degrees, rest = divmod(size, 1e6)
    minutes, seconds = divmod(rest, 1e3)
    return math.copysign(degrees + minutes / 60 + seconds / 3600, angle)


# ---- The file ----

class File:
    def __init__(self, path):
        self.path = path
        self.sd = SD(path)
        self.hdf = HDF(path)
        self.v = self.hdf.vgstart()
        self.vs = self.hdf.vstart()
        self.structure = metadata(self.sd)
        self.groups = {}
        number = -1
        while True:
            try:
                number = self.v.getid(number)
            except Exception:
                break
            group = self.v.attach(number)
            self.groups[number] = (group._name, group._class, group.tagrefs())
            group.detach()

    def members(self, kind, name):
        """Fields of an object by name: a dataset number or a table; and the names of its attributes."""
        fields, attributes = {}, []
        for own, its_class, members in self.groups.values():
            if (own, its_class) != (name, kind):
                continue
            for tag, ref in members:
                if tag != VG:
                    continue
                part, _, parts = self.groups[ref]
                for tag, ref in parts:
                    if tag == NDG:
                        number = self.sd.reftoindex(ref)
                        fields.setdefault(self.sd.select(number).info()[0], ("dataset", number))
                    elif tag == VH:
                        table = self.vs.attach(ref)
                        if part.endswith("Attributes"):
                            attributes.append(table._name)
                        else:
                            fields.setdefault(table._name, ("table", ref))
                        table.detach()
            break
        return fields, attributes

    def values(self, place):
        kind, number = place
        if kind == "dataset":
            dataset = self.sd.select(number)
            if not all(np.atleast_1d(dataset.info()[2])):
                return None
            return np.asarray(dataset[:]) if dataset.checkempty() == 0 else None
        table = self.vs.attach(number)
        records = table[:]
        table.detach()
        return np.array([record[0] for record in records])


# ---- What is compared ----

class Judge:
    def __init__(self, file, copy):
        self.file, self.copy = file, netCDF4.Dataset(copy)
        self.copy.set_auto_maskandscale(False)
        self.differences, self.counts = [], dict(grids=0, swaths=0, points=0, fields=0, coordinates=0, gdal=0)

    def expect(self, what, found, wanted):
        if found != wanted:
            self.differences.append(f"{what}: {found!r}, not {wanted!r}")

    def near(self, what, found, wanted, tolerance):
        found, wanted = np.ma.getdata(found), np.asarray(wanted)
        if found.shape != wanted.shape:
            self.differences.append(f"{what}: shape {found.shape}, not {wanted.shape}")
            return
        both = np.isfinite(found) & np.isfinite(wanted)
        if (np.isfinite(found) != np.isfinite(wanted)).any():
            self.differences.append(f"{what}: not on the map at other cells")
        worst = np.abs(found - wanted)[both].max(initial=0)
        if worst > tolerance:
            self.differences.append(f"{what}: {worst} away")
        self.counts["coordinates"] += 1

    def field(self, group, name, dims, values):
        if name not in group.variables:
            self.differences.append(f"{group.path}/{name}: not there")
            return None
        found = group.variables[name]
        if values is not None:
            if len(dims) == values.ndim:
                shown = [own.split("_")[0] if size != group.dimensions[own].size else own
                         for own, size in zip(found.dimensions, values.shape)]
                self.expect(f"{group.path}/{name}: dimensions", shown, [dim or "unnamed" for dim in dims])
            self.expect(f"{group.path}/{name}: shape", found.shape, values.shape)
            if found.shape == values.shape and not np.array_equal(np.asarray(found[:]), values, equal_nan=values.dtype.kind == "f"):
                self.differences.append(f"{group.path}/{name}: other values")
        self.counts["fields"] += 1
        return found

    def fields(self, group, node, kind, name, lists):
        members, attributes = self.file.members(kind, name)
        for attribute in attributes:
            if not attribute.startswith("_FV_"):
                self.expect(f"{group.path}: attribute {attribute}", attribute in group.ncattrs(), True)
        merged = {}
        for together in objects(node, "MergedFields"):
            place = members.get(text(together["MergedFieldName"]))
            if place and "Field Dims" in self.file.sd.select(place[1]).attributes():
                dataset = self.file.sd.select(place[1])
                sizes, offsets = (np.atleast_1d(dataset.attributes()[key]) for key in ("Field Dims", "Field Offsets"))
                for at, field in enumerate(listed(together["FieldList"])):
                    merged[field] = (place, int(offsets[at]), int(sizes[at]))
        found = {}
        for key, title in lists:
            for field in objects(node, key):
                own, dims = text(field[title]), listed(field["DimList"])
                if field["DimList"].startswith("(") and '""' in field["DimList"]:
                    dims = [text(item) for item in field["DimList"].strip("()").split(",")]
                if own in members:
                    values = self.file.values(members[own])
                elif own in merged:
                    place, offset, size = merged[own]
                    values = self.file.values(place)
                    values = None if values is None else values[offset:offset + size]
                    if values is not None and len(dims) < values.ndim:
                        values = values[0]
                else:
                    self.expect(f"{group.path}/{own}: is there", own in group.variables, False)
                    continue
                variable = self.field(group, own, dims, values)
                if variable is not None:
                    found[own] = (key, variable)
        return found

    def grid(self, node):
        name = text(node["GridName"])
        group = self.copy.groups[name]
        self.counts["grids"] += 1
        columns, rows = int(node["XDim"]), int(node["YDim"])
        self.expect(f"{name}: columns", group.dimensions["XDim"].size, columns)
        self.expect(f"{name}: rows", group.dimensions["YDim"].size, rows)
        found = self.fields(group, node, "GRID", name, [("DataField", "DataFieldName")])
        corners = [node.get(key, "DEFAULT") for key in ("UpperLeftPointMtrs", "LowerRightMtrs")]
        code = node.get("Projection", "")
        if "DEFAULT" in corners and code != "GCTP_GEO":
            self.expect(f"{name}: coordinates", "XDim" in group.variables, False)
            return
        is_geographic = code == "GCTP_GEO"
        corners = [[float(item) for item in listed(corner)] for corner in corners]
        if is_geographic and max(abs(angle) for corner in corners for angle in corner) > 360:
            corners = [[unpacked(angle) for angle in corner] for corner in corners]
        (left, top), (right, bottom) = corners
        at = (0.5, 0.5)
        if node.get("PixelRegistration") == "HDFE_CORNER":
            origin = node.get("GridOrigin", "HDFE_GD_UL")[-2:]
            at = (origin[1] == "R", origin[0] == "L")
        x = left + (np.arange(columns) + at[0]) * (right - left) / columns
        y = top + (np.arange(rows) + at[1]) * (bottom - top) / rows
        stored = {own.lower() for own, (_, variable) in found.items()
                  if variable.dimensions and set(variable.dimensions) <= {"XDim", "YDim"}}
        has_own = stored & {"latitude", "lat"} and stored & {"longitude", "lon"}
        if not (is_geographic and has_own):
            self.near(f"{name}/XDim", group.variables["XDim"][:], x, 1e-9 if is_geographic else 1e-3)
            self.near(f"{name}/YDim", group.variables["YDim"][:], y, 1e-9 if is_geographic else 1e-3)
            self.gdal(name, group, found, at)
        mapping = {key: group.variables["crs"].getncattr(key) for key in group.variables["crs"].ncattrs()}
        spatial_ref = mapping.pop("spatial_ref")
        crs = pyproj.CRS.from_cf(mapping)
        if is_geographic or has_own:
            return
        # The projection by the numbers of StructMetadata, and by the grid mapping.
        gx, gy = np.meshgrid(x, y)
        latitude, longitude = group.variables["latitude"][:], group.variables["longitude"][:]
        proj = pyproj.Proj(self.proj(node, code))
        wanted_longitude, wanted_latitude = proj(gx, gy, inverse=True)
        # PROJ wraps longitudes beyond the edge of some maps, and its forward map tells.
        back_x, back_y = proj(wanted_longitude, wanted_latitude)
        off = ~((np.abs(back_x - gx) < 1) & (np.abs(back_y - gy) < 1))
        wanted_longitude[off] = wanted_latitude[off] = np.nan
        # PROJ's inverse of the ellipsoidal equal-area cylinder is a short series, good to 2e-8 degrees; its forward map, which the
        # grid mapping is judged by below, is exact.
        tolerance = 5e-8 if code in ("GCTP_CEA", "GCTP_BCEA") else 1e-9
        turn = np.round((np.ma.getdata(longitude) - wanted_longitude) / 360) * 360
        # Measured along the parallel: at a pole any longitude will do.
        parallel = np.cos(np.radians(wanted_latitude))
        self.near(f"{name}/longitude", (longitude - np.nan_to_num(turn)) * parallel, wanted_longitude * parallel, tolerance)
        self.near(f"{name}/latitude", latitude, wanted_latitude, tolerance)
        gx[off], gy[off] = np.nan, np.nan
        for what, mapped in [("grid mapping", crs), ("well-known text", pyproj.CRS.from_wkt(spatial_ref))]:
            mapped_x, mapped_y = pyproj.Proj(mapped)(np.ma.getdata(longitude), np.ma.getdata(latitude))
            mapped_x[off], mapped_y[off] = np.nan, np.nan
            self.near(f"{name}: x by the {what}", mapped_x, gx, 1e-3)
            self.near(f"{name}: y by the {what}", mapped_y, gy, 1e-3)
        for own, (_, variable) in found.items():
            if {"XDim", "YDim"} <= set(variable.dimensions):
                self.expect(f"{name}/{own}: grid mapping", variable.grid_mapping, "crs")
                self.expect(f"{name}/{own}: coordinates", variable.coordinates, "latitude longitude")

    def proj(self, node, code):
        p = [float(item) for item in listed(node.get("ProjParams", ""))] + [0.0] * 13
        sphere = int(node.get("SphereCode", 0))
        if sphere >= 0:
            major, minor = SPHERES[sphere]
            radius = 6370997.0
        else:
            major = p[0] or 6370997.0
            minor = p[1] if p[1] > 1 else major * math.sqrt(1 - p[1])
            radius = major
        body = f" +a={major!r} +b={minor!r}"
        ball = f" +R={radius!r}"
        false = f" +x_0={p[6]!r} +y_0={p[7]!r}"
        lon, lat = unpacked(p[4]), unpacked(p[5])
        one, two = unpacked(p[2]), unpacked(p[3])
        zone = int(node.get("ZoneCode", 0))
        return {
            "GCTP_UTM": f"+proj=utm +zone={abs(zone)}{' +south' if zone < 0 else ''}" + body,
            "GCTP_TM": f"+proj=tmerc +k={p[2]!r} +lon_0={lon!r} +lat_0={lat!r}" + body + false,
            "GCTP_ALBERS": f"+proj=aea +lat_1={one!r} +lat_2={two!r} +lon_0={lon!r} +lat_0={lat!r}" + body + false,
            "GCTP_LAMCC": f"+proj=lcc +lat_1={one!r} +lat_2={two!r} +lon_0={lon!r} +lat_0={lat!r}" + body + false,
            "GCTP_MERCAT": f"+proj=merc +lat_ts={lat!r} +lon_0={lon!r}" + body + false,
            "GCTP_PS": f"+proj=stere +lat_0={90 if lat >= 0 else -90} +lat_ts={lat!r} +lon_0={lon!r}" + body + false,
            "GCTP_LAMAZ": f"+proj=laea +lat_0={lat!r} +lon_0={lon!r}" + ball + false,
            "GCTP_SNSOID": f"+proj=sinu +lon_0={lon!r}" + ball + false,
            "GCTP_CEA": f"+proj=cea +lat_ts={lat!r} +lon_0={lon!r}" + body + false,
            "GCTP_BCEA": f"+proj=cea +lat_ts={lat!r} +lon_0={lon!r}" + body + false,
        }[code]

    def gdal(self, name, group, found, at):
        """Edges of the grid as GDAL has them, where its driver reads the file and shows the field as a map."""
        field = next((own for own, (_, variable) in found.items() if variable.dimensions[-2:] == ("YDim", "XDim")), None)
        if field is None:
            return
        dataset = f'HDF4_EOS:EOS_GRID:"{self.file.path}":"{name}":"{field}"'
        said = subprocess.run(["gdalinfo", "-json", dataset], capture_output=True, timeout=60)
        if said.returncode:
            return
        said = json.loads(said.stdout.decode("utf-8", "replace"))
        left, step_x, _, top, _, step_y = said["geoTransform"]
        if not step_x or not step_y:
            return
        x, y = group.variables["XDim"], group.variables["YDim"]
        self.expect(f"{name}: size by GDAL", [x.size, y.size], said["size"])
        # GDAL shows the edges of the cells, whatever the registration is.
        tolerance = 1e-9 if x.units == "degrees_east" else 1e-3
        self.near(f"{name}/XDim by GDAL", x[:], left + (np.arange(x.size) + at[0]) * step_x, tolerance)
        self.near(f"{name}/YDim by GDAL", y[:], top + (np.arange(y.size) + at[1]) * step_y, tolerance)
        self.counts["gdal"] += 1

    def swath(self, node):
        name = text(node["SwathName"])
        group = self.copy.groups[name]
        self.counts["swaths"] += 1
        for dim in objects(node, "Dimension"):
            own, size = text(dim["DimensionName"]), int(dim["Size"])
            if size > 0:
                self.expect(f"{name}: {own}", group.dimensions[own or "unnamed"].size, size)
        maps = [f"{text(one['GeoDimension'])}: {text(one['DataDimension'])} offset: {one['Offset']} increment: {one['Increment']}"
                for one in objects(node, "DimensionMap")]
        self.expect(f"{name}: dimension maps", getattr(group, "dimension_maps", ""), "; ".join(maps))
        found = self.fields(group, node, "SWATH", name, [("GeoField", "GeoFieldName"), ("DataField", "DataFieldName")])
        places = [variable for key, variable in found.values() if key == "GeoField"]
        for own, (key, variable) in found.items():
            if key == "DataField":
                dims = set(variable.dimensions)
                wanted = [place.name for place in places if set(place.dimensions) <= dims and place.dimensions != (place.name,)]
                self.expect(f"{name}/{own}: coordinates", getattr(variable, "coordinates", ""), " ".join(wanted))

    def point(self, node):
        name = text(node["PointName"])
        group = self.copy.groups[name]
        self.counts["points"] += 1
        members, _ = self.file.members("POINT", name)
        for level in objects(node, "Level"):
            own = text(level["LevelName"])
            table = self.file.vs.attach(members[own][1])
            records, fields = table[:], [field[0] for field in table.fieldinfo()]
            table.detach()
            for at, field in enumerate(fields):
                found = group.groups[own].variables[field][:]
                wanted = np.array([record[at] for record in records])
                if found.dtype.kind == "S":
                    wanted = np.array([list(text.ljust(found.shape[1], "\0")) for text in wanted]).astype("S1")
                if not np.array_equal(np.asarray(found), wanted.reshape(found.shape)):
                    self.differences.append(f"{name}/{own}/{field}: other values")
                self.counts["fields"] += 1

    def all(self):
        for kind, key, judge in [("Grid", "GridStructure", self.grid), ("Swath", "SwathStructure", self.swath),
                                 ("Point", "PointStructure", self.point)]:
            for node in objects(self.file.structure, key):
                judge(node)
        return self


# ---- Files of all projections ----

def made_grids(rng):
    angle = lambda low, high: (lambda degrees: math.copysign(  # noqa: E731
        int(abs(degrees)) * 1e6 + rng.randrange(60) * 1e3 + rng.randrange(60), degrees))(rng.uniform(low, high))
    ellipsoid = rng.randrange(19)
    spheres = [0.0] * 4
    yield "GCTP_GEO", [0] * 13, 0, 0, (angle(-170, -10), angle(10, 80)), (angle(10, 170), angle(-80, -10))
    yield "GCTP_UTM", [0] * 13, ellipsoid, rng.randrange(1, 61), (250000.0, 5e6), (750000.0, 4.5e6)
    yield "GCTP_UTM", [0] * 13, 12, -rng.randrange(1, 61), (250000.0, 5e6), (750000.0, 4.5e6)
    yield ("GCTP_TM", [0, 0, rng.uniform(0.999, 1.0), 0, angle(-170, 170), angle(-50, 50), 4e5, -1e5] + [0] * 5, ellipsoid, 0,
           (1e5, 9e5), (8e5, 1e5))
    for sign in (1, -1):
        conic = [0, 0, sign * angle(20, 35), sign * angle(40, 65), angle(-170, 170), sign * angle(10, 50), 1e5, 2e5] + [0] * 5
        yield "GCTP_ALBERS", conic, ellipsoid, 0, (-2e6, 1e6), (2e6, -1e6)
        yield "GCTP_LAMCC", conic, ellipsoid, 0, (-2e6, 1e6), (2e6, -1e6)
        yield ("GCTP_PS", [0, 0, 0, 0, angle(-170, 170), sign * angle(60, 85), 0, 0] + [0] * 5, ellipsoid, 0,
               (-4e6, 5e6), (4e6, -5e6))
        yield ("GCTP_LAMAZ", [6371228.0, 0, 0, 0, angle(-170, 170), sign * 90000000, 0, 0] + [0] * 5, -1, 0,
               (-9036842.76, 9036842.76), (9036842.76, -9036842.76))
    yield ("GCTP_PS", [6378273.0, 0.006693883, 0, 0, angle(-170, 170), 90000000, 10, 20] + [0] * 5, -1, 0,
           (-4e6, 5e6), (4e6, -5e6))
    yield "GCTP_LAMCC", [0, 0, 30000000, 30000000, angle(-90, 90), 30000000, 0, 0] + [0] * 5, 8, 0, (-2e6, 1e6), (2e6, -1e6)
    yield "GCTP_LAMAZ", spheres + [angle(-170, 170), angle(-60, 60), 0, 0] + [0] * 5, 0, 0, (-4e6, 3e6), (4e6, -3e6)
    yield "GCTP_MERCAT", spheres + [angle(-170, 170), angle(0, 60), 0, 0] + [0] * 5, ellipsoid, 0, (-9e6, 1e7), (9e6, -1e7)
    yield ("GCTP_SNSOID", [6371007.181] + [0] * 12, -1, 0, (-20015109.354, 10007554.677), (20015109.354, -10007554.677))
    yield "GCTP_CEA", [6371228.0, 0, 0, 0, 0, 30000000, 0, 0] + [0] * 5, -1, 0, (-17334193.54, 7344784.83), (17334193.54, -7344784.83)
    yield ("GCTP_BCEA", spheres + [angle(-170, 170), 30000000, 0, 0] + [0] * 5, ellipsoid, 0,
           (-15e6, 7e6), (15e6, -7e6))


def write(path, structure, groups):
    """Writes a file: for each object its kind, name, and parts with datasets (name, dimensions, values) and tables (name, values)."""
    sd = SD(path, SDC.WRITE | SDC.CREATE | SDC.TRUNC)
    # The library cuts the text where an attribute is full: here early, so that there are several.
    for number in range(0, max(len(structure), 1), 3000):
        sd.attr(f"StructMetadata.{number // 3000}").set(SDC.CHAR, structure[number:number + 3000])
    references = {}
    for kind, name, parts in groups:
        for part, datasets, _ in parts:
            for own, dims, values in datasets:
                dataset = sd.create(own, {"f": SDC.FLOAT32, "i": SDC.INT32}[values.dtype.kind], values.shape)
                for at, dim in enumerate(dims):
                    dataset.dim(at).setname(f"{dim}:{name}")
                dataset[:] = values
                references.setdefault((kind, name, part), []).append((NDG, dataset.ref()))
                dataset.endaccess()
    sd.end()
    hdf = HDF(path, HC.WRITE)
    v, vs = hdf.vgstart(), hdf.vstart()
    for kind, name, parts in groups:
        group = v.create(name)
        group._class = kind
        for part, _, tables in parts:
            inner = v.create(part)
            inner._class = f"{kind} Vgroup"
            for tag, ref in references.get((kind, name, part), []):
                inner.add(tag, ref)
            for own, values in tables:
                field = "AttrValues" if part.endswith("Attributes") else own
                table = vs.create(own, [(field, {"f": HC.FLOAT32, "i": HC.INT32}[values.dtype.kind], 1)])
                table.write([[value.item()] for value in values])
                inner.insert(table)
                table.detach()
            group.insert(inner)
            inner.detach()
        group.detach()
    v.end()
    vs.end()
    hdf.close()


def structure(grids="", swaths="", points=""):
    return "".join(f"GROUP={key}\n{inner}END_GROUP={key}\n" for key, inner in
                   [("SwathStructure", swaths), ("GridStructure", grids), ("PointStructure", points)]) + "END\n"


def group_text(key, number, body):
    return f"\tGROUP={key}_{number}\n{body}\tEND_GROUP={key}_{number}\n"


def object_list(key, objects):
    body = "".join(f"\t\t\tOBJECT={key}_{number}\n" + "".join(f"\t\t\t\t{line}\n" for line in lines) +
                   f"\t\t\tEND_OBJECT={key}_{number}\n" for number, lines in enumerate(objects, 1))
    return f"\t\tGROUP={key}\n{body}\t\tEND_GROUP={key}\n"


def field_lines(title, name, dims):
    return [f'{title}="{name}"', "DataType=DFNT_FLOAT32", "DimList=(" + ",".join(f'"{dim}"' for dim in dims) + ")"]


def make(folder, seed):
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    origins = ["UL", "UR", "LL", "LR"]
    everything, groups = "", []
    for number, (code, parameters, sphere, zone, upper, lower) in enumerate(made_grids(rng), 1):
        columns, rows = rng.randrange(1, 40), rng.randrange(1, 30)
        name = f"Grid {number}"
        # Two grids have fields of one name; bands make a third dimension.
        dims = ["YDim", "XDim"] if number % 2 else ["Band", "YDim", "XDim"]
        shape = [rows, columns] if number % 2 else [3, rows, columns]
        body = f'\t\tGridName="{name}"\n\t\tXDim={columns}\n\t\tYDim={rows}\n'
        body += "\t\tUpperLeftPointMtrs=(%.6f,%.6f)\n\t\tLowerRightMtrs=(%.6f,%.6f)\n" % (*upper, *lower)
        body += f"\t\tProjection={code}\n" + (f"\t\tZoneCode={zone}\n" if zone else "")
        body += "\t\tProjParams=(" + ",".join(f"{parameter:.10f}" for parameter in parameters) + ")\n"
        body += f"\t\tSphereCode={sphere}\n"
        if number % 3 == 0:
            body += "\t\tPixelRegistration=HDFE_CORNER\n"
        body += f"\t\tGridOrigin=HDFE_GD_{origins[number % 4]}\n"
        body += object_list("Dimension", [] if number % 2 else [['DimensionName="Band"', "Size=3"]])
        body += object_list("DataField", [field_lines("DataFieldName", "Flux", dims)]) + object_list("MergedFields", [])
        everything += group_text("GRID", number, body)
        values = numbers.random(shape, dtype="f4")
        groups.append(("GRID", name, [("Data Fields", [("Flux", dims, values)], []),
                                      ("Grid Attributes", [], [("Version", np.array([number], "i4"))])]))
    write(f"{folder}/grids.hdf", structure(grids=everything), groups)
    for number in (1, 2):
        track, cross = rng.randrange(2, 9), rng.randrange(2, 9)
        body = f'\t\tSwathName="Swath_{number}"\n'
        body += object_list("Dimension", [['DimensionName="Track"', f"Size={track}"], ['DimensionName="Cross"', f"Size={cross}"],
                                          ['DimensionName="Fine"', f"Size={4 * cross}"]])
        body += object_list("DimensionMap", [['GeoDimension="Cross"', 'DataDimension="Fine"', "Offset=1", "Increment=4"]])
        body += object_list("IndexDimensionMap", [])
        geo = [("Latitude", ["Track", "Cross"]), ("Longitude", ["Track", "Cross"]), ("Time", ["Track"])]
        data = [("Radiance", ["Track", "Cross"]), ("Sharp", ["Track", "Fine"]), ("Gain", ["Cross"])]
        body += object_list("GeoField", [field_lines("GeoFieldName", own, dims) for own, dims in geo])
        body += object_list("DataField", [field_lines("DataFieldName", own, dims) for own, dims in data])
        body += object_list("MergedFields", [])
        sizes = {"Track": track, "Cross": cross, "Fine": 4 * cross}
        parts = []
        for part, fields in [("Geolocation Fields", geo), ("Data Fields", data)]:
            values = [(own, dims, numbers.random([sizes[dim] for dim in dims], dtype="f4")) for own, dims in fields]
            parts.append((part, [field for field in values if len(field[1]) > 1],
                          [(own, flat) for own, dims, flat in values if len(dims) == 1]))
        parts.append(("Swath Attributes", [], [("Orbit", np.array([7], "i4"))]))
        write(f"{folder}/swath{number}.hdf", structure(swaths=group_text("SWATH", 1, body)),
              [("SWATH", f"Swath_{number}", parts)])


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
        return
    judge = Judge(File(sys.argv[2]), sys.argv[3]).all()
    for difference in judge.differences:
        print(difference)
    print("compared", json.dumps(judge.counts))


main()
