// A C++ program over netcdf-cxx4 that writes netCDF-4 and its classic model: types, groups, storage, edits.
#include <cstddef>
#include <iostream>
#include <netcdf>
#include <vector>

using namespace netCDF;
using namespace netCDF::exceptions;

struct Point {
    signed char tag;
    double x;
    short pair[2];
};

template <typename Call>
static void refused(Call call)
{
    try {
        call();
        std::cout << "taken\n";
    } catch (NcException &error) {
        std::cout << error.errorCode() << '\n';
    }
}

static void make()
{
    NcFile file("c4.nc", NcFile::replace, NcFile::nc4);
    NcDim time = file.addDim("time"), other = file.addDim("other"), x = file.addDim("x", 4);
    NcCompoundType point = file.addCompoundType("point", sizeof(Point));
    point.addMember("tag", ncByte, offsetof(Point, tag));
    point.addMember("x", ncDouble, offsetof(Point, x));
    std::vector<int> shape = {2};
    point.addMember("pair", ncShort, offsetof(Point, pair), shape);
    NcEnumType colour = file.addEnumType("colour", NcEnumType::nc_USHORT);
    colour.addMember("red", static_cast<unsigned short>(0));
    colour.addMember("blue", static_cast<unsigned short>(65535));
    NcType base = ncDouble;
    NcVlenType list = file.addVlenType("list", base);
    NcOpaqueType blob = file.addOpaqueType("blob", 5);

    NcVar v = file.addVar("v", ncFloat, {time, x});
    std::vector<size_t> chunks = {2, 3};
    v.setChunking(NcVar::nc_CHUNKED, chunks);
    v.setCompression(true, true, 6);
    v.setChecksum(NcVar::nc_FLETCHER32);
    v.setFill(true, -5.5f);
    v.putAtt("units", "metres");
    v.putAtt("limits", ncFloat, 2, std::vector<float>{1, 2}.data());
    NcVar big = file.addVar("big", ncUint64, x);
    big.setEndianness(NcVar::nc_ENDIAN_BIG);
    NcVar flat = file.addVar("flat", ncInt, x);
    std::vector<size_t> none;
    flat.setChunking(NcVar::nc_CONTIGUOUS, none);
    flat.setFill(false, static_cast<void *>(nullptr));
    NcVar p = file.addVar("p", point, time), c = file.addVar("c", colour, x), l = file.addVar("l", list, x);
    NcVar o = file.addVar("o", blob, x), s = file.addVar("s", ncString, {other, x});
    Point points[3] = {{1, 1.5, {1, 2}}, {2, 2.5, {3, 4}}, {-3, 3.5, {5, 6}}};
    p.putVar({1}, {3}, points);
    unsigned short colours[] = {0, 65535, 0, 65535};
    c.putVar(static_cast<void *>(colours));
    double numbers[] = {1, 2, 3, 4, 5, 6};
    nc_vlen_t lists[] = {{1, numbers}, {0, nullptr}, {6, numbers}, {2, numbers + 3}};
    l.putVar(static_cast<void *>(lists));
    char opaque[] = "0123456789abcdefghij";
    o.putVar(static_cast<void *>(opaque));
    const char *words[] = {"one", "", "three", "a rather longer text"};
    // The reference cannot read strings of chunks that were never written.
    s.putVar({0, 3}, {1, 1}, words + 3);
    s.putVar({1, 0}, {1, 4}, words);
    unsigned long long longs[] = {1, 18446744073709551615ull, 3, 4};
    big.putVar(longs);
    int ints[] = {9, 8, 7, 6};
    flat.putVar(ints);
    std::vector<float> row = {1, 2, 3, 4};
    for (size_t n = 0; n < 5; n += 2)
        v.putVar({n, 0}, {1, 4}, row.data());
    file.putAtt("title", "types");
    file.putAtt("points", point, 2, static_cast<void *>(points));
    file.putAtt("colours", colour, 3, static_cast<void *>(colours));
    file.putAtt("lists", list, 3, static_cast<void *>(lists));
    v.putAtt("words", 3, words);
    NcGroup g = file.addGroup("g"), h = g.addGroup("h");
    NcDim y = g.addDim("y", 2);
    NcVar deep = h.addVar("deep", ncShort, {y, time});
    short shorts[] = {1, 2, 3, 4};
    deep.putVar({0, 1}, {2, 2}, shorts);
    deep.putAtt("late", ncDouble, 2.5);
    h.addVar("coloured", colour);
    g.addVar("y", ncUbyte, y).putVar(std::vector<unsigned char>{200, 100}.data());
    refused([&] { file.addGroup("g"); });
    refused([&] { v.setCompression(true, true, 6); });
    refused([&] { file.addVar("v", ncInt, x); });
    refused([&] { colour.addMember("green", static_cast<unsigned short>(7)); });
}

static void grow()
{
    NcFile file("c4.nc", NcFile::write);
    std::cout << file.getDimCount(NcGroup::All) << ' ' << file.getVarCount(NcGroup::All) << ' ' << file.getAttCount()
              << ' ' << file.getTypeCount() << ' ' << file.getGroupCount() << '\n';
    NcVar v = file.getVar("v");
    bool shuffle, deflate;
    int level;
    v.getCompressionParameters(shuffle, deflate, level);
    std::cout << shuffle << deflate << level << '\n';
    std::vector<double> all(20);
    v.getVar(all.data());
    for (double value : all)
        std::cout << value << ' ';
    float more[] = {7, 8};
    v.putVar({6, 1}, {2, 1}, {2, 1}, more);
    v.putAtt("units", "inches");
    v.rename("renamed");
    file.getDim("other").rename("another");
    NcGroup g = file.getGroup("g");
    g.putAtt("added", ncInt, 3);
    NcVar fresh = g.addVar("fresh", ncInt64, {file.getDim("time"), file.getDim("x")});
    std::vector<size_t> chunks = {1, 4};
    fresh.setChunking(NcVar::nc_CHUNKED, chunks);
    fresh.setCompression(false, true, 1);
    long long longs[] = {1, -2, 3, -4};
    fresh.putVar({2, 0}, {1, 4}, longs);
    char *words[4];
    NcVar s = file.getVar("s");
    s.getVar({1, 0}, {1, 4}, words);
    for (char *word : words)
        std::cout << word << ',';
    s.freeString(4, words);
    const char *last[] = {"last"};
    s.putVar({2, 2}, {1, 1}, last);
    Point back[4];
    file.getVar("p").getVar(static_cast<void *>(back));
    for (const Point &one : back)
        std::cout << int(one.tag) << ' ' << one.x << ' ' << one.pair[1] << '\n';
    for (auto &pair : file.getTypes())
        std::cout << pair.first << ' ' << pair.second.getTypeClassName() << ' ' << pair.second.getSize() << '\n';
}

static void classic_model()
{
    NcFile file("c7.nc", NcFile::replace, NcFile::nc4classic);
    NcDim time = file.addDim("time"), x = file.addDim("x", 4);
    NcVar v = file.addVar("v", ncDouble, {time, x});
    v.setCompression(false, true, 2);
    v.setFill(true, 1e30);
    v.putAtt("units", "K");
    refused([&] { file.addDim("second"); });
    refused([&] { file.addGroup("g"); });
    refused([&] { file.addVar("s", ncString, x); });
    refused([&] { file.addOpaqueType("blob", 5); });
    file.putAtt("title", "classic");
    double row[] = {1, 2, 3, 4};
    file.enddef();
    v.putVar({1, 0}, {1, 4}, row);
}

int main()
{
    make();
    grow();
    classic_model();
}
