"""Complex numbers as pairs of numbers: compounds with two fields, or a last dimension of length 2."""

import numpy as np

#: The name of the type, or of the dimension, of complex numbers that are written here.
TYPES = {"c8": "_PFNC_FLOAT_COMPLEX_TYPE", "c16": "_PFNC_DOUBLE_COMPLEX_TYPE"}
DIMENSION = "_pfnc_complex"
_DIMENSIONS = (DIMENSION, "complex", "ri")
_OF_PARTS = {"f4": "c8", "f8": "c16"}


def parts_of(dtype):
    """Returns the structured data type of the two parts of complex numbers."""
    part = f"f{np.dtype(dtype).itemsize // 2}"
    return np.dtype([("r", part), ("i", part)])


def of_compound(dtype):
    """Returns the data type of the complex numbers that a compound stands for; None if it stands for none."""
    if not dtype.names or [name[:1].lower() for name in dtype.names] != ["r", "i"]:
        return None
    first, second = (dtype.fields[name][0] for name in dtype.names)
    return np.dtype(_OF_PARTS[first.str[1:]]) if first == second and first.str[1:] in _OF_PARTS else None


def of_dimension(variable):
    """Returns the data type of the complex numbers whose parts lie along the last dimension; None without such a dimension."""
    names, shape = variable.dimensions, variable.shape
    if not names or names[-1] not in _DIMENSIONS or shape[-1] != 2:
        return None
    found = _OF_PARTS.get(variable.dtype.str[1:])
    return found and np.dtype(found)
