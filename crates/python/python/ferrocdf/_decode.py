"""Numbers as the CF conventions mean them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._typing import ArrayOrElement


def decode(values: ArrayOrElement, attributes: Mapping[str, Any], is_number: bool) -> ArrayOrElement:
    """Returns stored numbers with missing values masked, and with ``scale_factor`` and ``add_offset`` applied."""
    if not is_number:
        return values
    values = np.asarray(values)
    unsigned = attributes.get("_Unsigned")
    is_unsigned = unsigned in ("true", "True") and values.dtype.kind == "i"
    is_signed = unsigned in ("false", "False") and values.dtype.kind == "u"
    if is_unsigned or is_signed:
        values = values.view(f"{'u' if is_unsigned else 'i'}{values.dtype.itemsize}")
    missing = _missing(values, attributes)
    decoded = _scaled(values, attributes)
    return decoded if missing is None else np.ma.MaskedArray(decoded, mask=missing)


def _like(values: NDArray[Any], limit: Any) -> NDArray[Any]:
    """Numbers of an attribute in the type of the values, so that unsigned ones compare as they are stored."""
    numbers = np.asarray(limit)
    is_reread = numbers.dtype.kind in "iu" and numbers.dtype.itemsize == values.dtype.itemsize
    return numbers.view(values.dtype) if is_reread and values.dtype.kind in "iu" else numbers


def _missing(values: NDArray[Any], attributes: Mapping[str, Any]) -> NDArray[np.bool_] | None:
    """True where a value is missing; None if none is."""
    found = np.zeros(values.shape, bool)
    for name in ("_FillValue", "missing_value"):
        for value in np.atleast_1d(_like(values, attributes[name])) if name in attributes else ():
            if isinstance(value, str):
                continue
            found |= np.isnan(values) if value != value else values == value
    low, high = attributes.get("valid_min"), attributes.get("valid_max")
    if np.size(attributes.get("valid_range", ())) == 2:
        low, high = attributes["valid_range"]
    if low is not None:
        found |= values < _like(values, low)
    if high is not None:
        found |= values > _like(values, high)
    return found if found.any() else None


def _scaled(values: NDArray[Any], attributes: Mapping[str, Any]) -> ArrayOrElement:
    scale, offset = attributes.get("scale_factor"), attributes.get("add_offset")
    if scale is not None:
        values = values * scale
    if offset is not None:
        values = values + offset
    return values
