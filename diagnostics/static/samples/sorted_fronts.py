"""Rows that are taken from the front of what sorting has put in another order: the seeds of a sampled batch. Pure.

A batch is joined of its seeds and what was sampled around them, and made unique, which sorts it; who then takes as many
rows from its front as there are seeds gets those with the lowest numbers.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.samples.sorted_joins import SortedJoin, sorted_joins

# What does not depend on the order of the rows, or finds a row by its number.
_ORDERLESS = frozenset(
    ["len", "size", "numel", "max", "min", "isin", "in1d", "searchsorted", "eq", "dict", "sum", "mean", "zeros", "ones",
     "full", "empty", "arange", "bincount", "unique", "sorted", "set"]
)  # fmt: skip
_DEPTH = 4


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """As many rows as there are seeds, from the front of what is sorted."""

    sort: ast.AST
    function: Function
    seeds: str
    taken: ast.Subscript
    where: Function


def fronts(function: Function, project: Project) -> Iterator[Front]:
    """Yields the first front that is taken of each sorted join of a function."""
    told: set[int] = set()  # a set and the list of it are one
    for one in sorted_joins(function):
        for seeds in sorted(one.parts):
            counts = _counts(seeds, function)
            taken = next(_taken_here(one, counts, seeds, function), None)
            found = (
                (taken, function)
                if taken is not None
                else next(_taken_there(one, counts, seeds, function, project), None)
            )
            if found is not None and id(found[0]) not in told:
                told.add(id(found[0]))
                yield Front(one.node, function, seeds, *found)
                break


def _counts(seeds: str, function: Function) -> frozenset[str]:
    """Returns the texts that say how many seeds there are, the names for them included."""
    texts = {f"len({seeds})", f"{seeds}.size(0)", f"{seeds}.size()[0]", f"{seeds}.shape[0]", f"{seeds}.numel()",
             f"{seeds}.size", f"int({seeds}.size(0))"}  # fmt: skip
    names = {name for name, made in function.assigned.items() if len(made) == 1 and ast.unparse(made[0]) in texts}
    return frozenset(texts | names)


def _taken_here(one: SortedJoin, counts: frozenset[str], seeds: str, function: Function) -> Iterator[ast.Subscript]:
    derived, finders = _derived({one.name}, _others(one, seeds), function)
    yield from _slices(counts, derived, finders, function, one.node.lineno)


def _others(one: SortedJoin, seeds: str) -> frozenset[str]:
    """Returns the names that bring rows into the order of the seeds: the seeds, and the places that sorting gives."""
    target = one.node.targets[0]
    places = target.elts[1:] if isinstance(target, ast.Tuple) else []
    return frozenset([seeds, *(place.id for place in places if isinstance(place, ast.Name))])


def _derived(first: set[str], others: frozenset[str], function: Function) -> tuple[set[str], set[str]]:
    """Returns the names that hold rows in the order of some names, and those by which rows of others are found."""
    found, finders = set(first), set(others)
    for _ in range(_DEPTH):
        for node in function.nodes_of(ast.Assign):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            if name in first:
                continue
            if _is_found(node.value, finders):
                finders.add(name)
                found.discard(name)
            elif name not in finders and depends(node.value, found, finders):
                found.add(name)
    return found, finders


def _is_found(value: ast.expr, finders: set[str]) -> bool:
    """Whether rows are looked up by the seeds, one by one or `local[seeds]`, or are their places, `inverse[:n]`."""
    for node in walk(value):
        if isinstance(node, ast.comprehension) and _names(node.iter) & finders:
            return True
        if isinstance(node, ast.Subscript):
            front = isinstance(node.slice, ast.Slice) and _names(node.value) & finders
            if front or _names(node.slice) & finders:
                return True
    return False


def _names(value: ast.AST) -> set[str]:
    """Returns the names and the attributes of names in an expression."""
    return {ast.unparse(node) for node in walk(value) if isinstance(node, (ast.Name, ast.Attribute))}


def depends(value: ast.AST, found: set[str], finders: set[str]) -> bool:
    """Whether the order of a value's rows is that of some names."""
    if isinstance(value, (ast.DictComp, ast.Compare, ast.SetComp)):
        return False
    if isinstance(value, ast.Call) and last_name(value.func) in _ORDERLESS:
        return False
    if isinstance(value, ast.Attribute):
        return ast.unparse(value) in found or (
            value.attr not in ("shape", "device", "dtype") and depends(value.value, found, finders)
        )
    if isinstance(value, ast.Name):
        return value.id in found
    if isinstance(value, ast.Subscript):
        if ast.unparse(value) in found:
            return True
        if _names(value.slice) & finders:
            return False
    return any(depends(one, found, finders) for one in ast.iter_child_nodes(value))


def _slices(
    counts: frozenset[str], derived: set[str], finders: set[str], function: Function, line: int
) -> Iterator[ast.Subscript]:
    """Yields `rows[:count]` where the order of the rows is that of the sorted."""
    for node in function.nodes_of(ast.Subscript):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or node.lineno < line:
            continue
        index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if not isinstance(index, ast.Slice) or index.lower is not None or index.step is not None or index.upper is None:
            continue
        if ast.unparse(index.upper) in counts and depends(node.value, derived, finders):
            yield node


def _taken_there(
    one: SortedJoin, counts: frozenset[str], seeds: str, function: Function, project: Project
) -> Iterator[tuple[ast.Subscript, Function]]:
    """Yields (slice, where) in who gets the rows and the count together."""
    derived, finders = _derived({one.name}, _others(one, seeds), function)
    for fields, count in _packed(counts, derived, finders, function):
        for where in project.functions:
            yield from ((node, where) for node in _of_package(fields, count, where))
    for node in function.nodes_of(ast.Return):
        if not isinstance(node, ast.Return) or not isinstance(node.value, ast.Tuple):
            continue
        given = node.value.elts
        told = [at for at, part in enumerate(given) if ast.unparse(part) in counts]
        rows = [at for at, part in enumerate(given) if depends(part, derived, finders)]
        for call, where in project.callers(function) if told and rows else ():
            names = _unpacked(call, where, len(given))
            if names:
                theirs, found = _derived({names[at] for at in rows}, frozenset(), where)
                counted = frozenset(names[at] for at in told)
                yield from ((each, where) for each in _slices(counted, theirs, found, where, call.lineno))


def _unpacked(call: ast.Call, function: Function, count: int) -> Sequence[str]:
    for node in function.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Tuple):
            names = [one.id if isinstance(one, ast.Name) else "" for one in node.targets[0].elts]
            return names if len(names) == count else ()
    return ()


def _packed(
    counts: frozenset[str], derived: set[str], finders: set[str], function: Function
) -> Iterator[tuple[frozenset[str], str]]:
    """Yields (fields with rows in sorted order, field with the count) of objects and dicts that hold both."""
    fields: dict[str, list[tuple[str, ast.expr]]] = {}
    for node in function.nodes_of((ast.Call, ast.Dict, ast.Assign)):
        match node:
            case ast.Call(keywords=keywords) if keywords:
                fields[f"call {id(node)}"] = [(one.arg, one.value) for one in keywords if one.arg]
            case ast.Dict(keys=keys, values=values):
                named = zip(keys, values, strict=True)
                fields[f"dict {id(node)}"] = [
                    (str(key.value), one) for key, one in named if isinstance(key, ast.Constant)
                ]
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attr)], value=value):
                fields.setdefault(name, []).append((attr, value))
    for several in fields.values():
        told = [name for name, value in several if ast.unparse(value) in counts]
        rows = frozenset(name for name, value in several if depends(value, derived, finders))
        if told and rows:
            yield rows, told[0]


def _of_package(fields: frozenset[str], count: str, function: Function) -> Iterator[ast.Subscript]:
    """Yields `rows[:batch.count]` where the rows come from the same batch's fields."""
    for holder in Counter(ast.unparse(one) for one in _fronts_by(count, function)):
        first = {f"{holder}.{name}" for name in fields} | {f"{holder}['{name}']" for name in fields}
        holders = {ast.unparse(one) for one in function.nodes_of((ast.Attribute, ast.Subscript))} & first
        derived, finders = _derived(holders, frozenset(), function)
        texts = frozenset([f"{holder}.{count}", f"{holder}['{count}']"])
        yield from _slices(texts, derived, finders, function, 0)


def _fronts_by(count: str, function: Function) -> Iterator[ast.expr]:
    """Yields the objects whose field says how many rows are taken from a front."""
    for node in function.nodes_of(ast.Slice):
        match node:
            case ast.Slice(lower=None, upper=ast.Attribute(value=holder, attr=attr)) if attr == count:
                yield holder
            case ast.Slice(lower=None, upper=ast.Subscript(value=holder, slice=ast.Constant(value=key))) if (
                key == count
            ):
                yield holder
