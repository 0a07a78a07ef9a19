"""Datasets, groups and variables as text and HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import _objects


def _sizes(variable: _objects.Variable) -> str:
    pairs = zip(variable.dimensions, variable.shape)
    return ", ".join(f"{name}: {length}" for name, length in pairs)


def variable(of: _objects.Variable) -> str:
    """A line of type, name and dimensions, and one for each attribute."""
    lines = [f"<ferrocdf.Variable {of.path!r} ({_sizes(of)}) {of.type_name}>"]
    lines += [f"    {name}: {_short(value)}" for name, value in of.attrs.asdict().items()]
    return "\n".join(lines)


def _short(value: Any, limit: int = 72) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= limit else f"{text[:limit - 1]}…"


def group(of: _objects.Group) -> str:
    """What a group holds, a line each."""
    lines = [f"<ferrocdf.{type(of).__name__} {_where(of)}>"]
    if getattr(of, "closed", False):
        return lines[0]
    for dim in of.dimensions.values():
        lines.append(f"    dimension {dim.name} = {dim.size}{' (unlimited)' if dim.is_unlimited else ''}")
    for found in of.variables.values():
        lines.append(f"    {found.type_name} {found.name} ({_sizes(found)})")
    lines += [f"    group {name}" for name in of.groups]
    lines += [f"    {name}: {_short(value)}" for name, value in of.attrs.asdict().items()]
    return "\n".join(lines)


def _where(of: Any) -> str:
    location = getattr(of, "location", None)
    if location is None:
        return repr(of.path)
    if getattr(of, "closed", False):
        return f"{location!r} (closed)"
    return f"{location if isinstance(location, str) else type(location).__name__!s} ({of.container}, {of.format})"


def html(of: _objects.Group) -> str:
    """A table of the variables of a group, and one of its attributes, for notebooks."""
    rows = [
        f"<tr><td>{escape(found.name)}</td><td>{escape(_sizes(found))}</td><td>{escape(found.type_name)}</td>"
        f"<td>{escape(_short(found.attrs.asdict().get('long_name', '')))}</td></tr>"
        for found in of.variables.values()
    ]
    attributes = [
        f"<tr><td>{escape(name)}</td><td>{escape(_short(value))}</td></tr>" for name, value in of.attrs.asdict().items()
    ]
    groups = "".join(f"<details><summary>{escape(name)}</summary>{html(inner)}</details>" for name, inner in of.groups.items())
    return (
        f"<div><b>{escape(group(of).splitlines()[0])}</b>"
        f"<table><tr><th>variable</th><th>dimensions</th><th>type</th><th></th></tr>{''.join(rows)}</table>"
        f"<table>{''.join(attributes)}</table>{groups}</div>"
    )
