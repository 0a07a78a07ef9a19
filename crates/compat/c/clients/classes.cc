// A C++ program over netcdf-cxx4: defines, writes, reads and prints.
#include <iostream>
#include <netcdf>
#include <vector>

using namespace netCDF;
using namespace netCDF::exceptions;

static void run(NcFile::FileFormat format, const std::string &path)
{
    {
        NcFile file(path, NcFile::replace, format);
        NcDim time = file.addDim("time"), x = file.addDim("x", 4);
        NcVar v = file.addVar("v", ncFloat, {time, x}), s = file.addVar("s", ncShort, {x});
        v.putAtt("units", "metres");
        v.putAtt("scale", ncDouble, 2.5);
        file.putAtt("title", "classes");
        std::vector<float> row = {1, 2, 3, 4};
        for (size_t n = 0; n < 3; n++)
            v.putVar({n, 0}, {1, 4}, row.data());
        short shorts[] = {7, 8, 9, 10};
        s.putVar(shorts);
    }
    NcFile file(path, NcFile::write);
    std::cout << file.getDimCount() << ' ' << file.getVarCount() << ' ' << file.getAttCount() << '\n';
    NcVar v = file.getVar("v");
    std::vector<double> all(12);
    v.getVar(all.data());
    for (double value : all)
        std::cout << value << ' ';
    std::vector<int> part(4);
    v.getVar({0, 1}, {2, 2}, {2, 2}, part.data());
    for (int value : part)
        std::cout << value << ' ';
    std::string units;
    v.getAtt("units").getValues(units);
    std::cout << units << '\n';
    for (auto &pair : file.getVars())
        std::cout << pair.first << ' ' << pair.second.getType().getName() << ' ' << pair.second.getDimCount() << '\n';
    try {
        v.getVar({9, 9}, all.data());
    } catch (NcException &error) {
        std::cout << error.errorCode() << '\n';
    }
}

int main()
{
    run(NcFile::classic, "classes1.nc");
    run(NcFile::classic64, "classes2.nc");
}
