"""The bench through pyhdf: `open FILE`, what the file says of all its objects. Prints the seconds."""

import sys
import time

from pyhdf.SD import SD, SDC

_, what, path = sys.argv
assert what == "open"
begin = time.perf_counter()
file = SD(path, SDC.READ)
file.attributes()
for index in range(file.info()[0]):
    sds = file.select(index)
    sds.info()
    sds.dimensions()
    sds.attributes()
    sds.endaccess()
print(f"{time.perf_counter() - begin:.6f}")
