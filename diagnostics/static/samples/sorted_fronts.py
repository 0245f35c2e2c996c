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

_SORTS = frozenset(["unique", "sort", "sorted", "union1d", "set", "frozenset", "union"])
_JOINS = frozenset(["cat", "concat", "concatenate", "hstack", "union1d", "union", "chain"])
# What gives back the same items in the same order.
_SAME = frozenset(["list", "tuple", "tensor", "as_tensor", "LongTensor", "from_numpy", "array", "asarray", "tolist", "to",
                   "long", "int", "numpy", "cpu", "cuda", "view", "reshape", "flatten", "ravel", "clone"])  # fmt: skip
# What does not depend on the order of the rows, or finds a row by its number.
_ORDERLESS = frozenset(["len", "size", "numel", "max", "min", "isin", "in1d", "searchsorted", "eq", "dict", "sum", "mean",
                        "zeros", "ones", "full", "empty", "arange", "bincount", "unique", "sorted", "set"])  # fmt: skip
_DEPTH = 4


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """As many rows as there are seeds, from the front of what is sorted."""

    sort: ast.AST
    function: Function
    seeds: str
    taken: ast.Subscript
    where: Function


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """A name that holds joined parts in sorted order."""

    name: str
    node: ast.Assign
    parts: frozenset[str]


def fronts(function: Function, project: Project) -> Iterator[Front]:
    """Yields the first front that is taken of each sorted join of a function."""
    told: set[int] = set()  # a set and the list of it are one
    for one in _sorted_joins(function):
        for seeds in sorted(one.parts):
            counts = _counts(seeds, function)
            taken = next(_taken_here(one, counts, seeds, function), None)
            found = (taken, function) if taken is not None else next(_taken_there(one, counts, seeds, function, project), None)
            if found is not None and id(found[0]) not in told:
                told.add(id(found[0]))
                yield Front(one.node, function, seeds, *found)
                break


def _sorted_joins(function: Function) -> Iterator[_Sorted]:
    """Yields what is sorted and joined of several parts, under a name of its own."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, several = node.targets[0], False
        if isinstance(target, ast.Tuple) and target.elts:
            target, several = target.elts[0], True
        if not isinstance(target, ast.Name) or len(function.assigned.get(target.id, ())) != 1:
            continue
        joined = _below_sort(node.value, function, several)
        parts = frozenset(_parts(joined, function, _DEPTH)) if joined is not None else frozenset[str]()
        if len(parts) > 1 and target.id not in parts:
            yield _Sorted(target.id, node, parts)


def _below_sort(value: ast.expr, function: Function, several: bool, depth: int = _DEPTH) -> ast.expr | None:
    """Returns what is sorted in a value: `x` of `torch.unique(x)`, `x.unique()`, `list(set(x))`."""
    if not depth:
        return None
    match value:
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)) if isinstance(inner, ast.Call):
            return _below_sort(inner, function, True, depth - 1)
        case ast.BinOp(op=ast.BitOr()):
            return value if _is_set(value) else None
        case ast.Name(id=name) if depth < _DEPTH:  # only behind list(): a name alone is told where it is made
            made = function.assigned.get(name, ())
            return value if len(made) == 1 and _is_set(made[0]) else None
        case ast.Call(func=func):
            called = last_name(func)
            given = value.args[0] if value.args else None
            if called in _SORTS:
                if not several and any((one.arg or "").startswith("return_") for one in value.keywords):
                    return None
                if called in ("union1d", "union"):
                    return value
                return given if given is not None and not _is_method(func) else _owner(func)
            if called in _SAME:
                inside = _owner(func) if _is_method(func) or given is None else given
                return _below_sort(inside, function, several, depth - 1) if inside is not None else None
    return None


def _is_set(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.BitOr) and _is_set(value.left) and _is_set(value.right)
    return isinstance(value, (ast.Set, ast.SetComp)) or (
        isinstance(value, ast.Call) and last_name(value.func) in ("set", "frozenset", "union")
    )


def _is_method(func: ast.expr) -> bool:
    """Whether what is called is a method of a value, not a function of a library: `x.unique()`, not `torch.unique`."""
    owner = _owner(func)
    return owner is not None and not (isinstance(owner, ast.Name) and owner.id in ("torch", "np", "numpy", "itertools"))


def _owner(func: ast.expr) -> ast.expr | None:
    return func.value if isinstance(func, ast.Attribute) else None


def _parts(value: ast.expr, function: Function, depth: int) -> Iterator[str]:
    """Yields the names of the parts that a value is joined of."""
    if not depth:
        return
    match value:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            for one in elts:
                yield from _part(one.value if isinstance(one, ast.Starred) else one, function, depth)
        case ast.BinOp(left=left, right=right, op=ast.Add() | ast.BitOr()):
            for one in (left, right):
                yield from _part(one, function, depth)
        case ast.Call(func=func, args=args) if last_name(func) in _JOINS or last_name(func) in ("set", "frozenset"):
            if last_name(func) == "union" and (owner := _owner(func)) is not None:
                yield from _part(owner, function, depth)
            for one in args[:1] if last_name(func) not in ("union1d", "union", "chain") else args:
                yield from _parts(one, function, depth - 1) if not isinstance(one, ast.Name) else _listed(one, function, depth)
        case ast.Name():
            yield from _listed(value, function, depth)


def _part(value: ast.expr, function: Function, depth: int) -> Iterator[str]:
    while isinstance(value, ast.Call) and last_name(value.func) in (_SAME | {"set"}):
        inside = _owner(value.func) if _is_method(value.func) or not value.args else value.args[0]
        if inside is None:
            return
        value = inside
    if isinstance(value, (ast.Name, ast.Attribute)):
        yield ast.unparse(value)
    elif isinstance(value, ast.Call) and last_name(value.func) not in _JOINS:
        yield ast.unparse(value)
    elif isinstance(value, (ast.BinOp, ast.Call)):
        yield from _parts(value, function, depth - 1)


def _listed(value: ast.Name, function: Function, depth: int) -> Iterator[str]:
    """Yields the parts of a list that grows, `seen = [seeds]` and `seen.append(more)`; a name that is no list is a part."""
    made = [one for one in function.assigned.get(value.id, ()) if isinstance(one, (ast.List, ast.Call, ast.BinOp))]
    lists = [one for one in made if isinstance(one, ast.List) and one.elts or not isinstance(one, ast.List)]
    if len(lists) != 1 or (isinstance(lists[0], ast.Call) and last_name(lists[0].func) not in (_JOINS | {"set"})):
        yield value.id
        return
    yield from _parts(lists[0], function, depth - 1)
    for call in function.nodes_of(ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "update"), args=[more]):
                if name == value.id:
                    yield from (_part(more, function, depth) if isinstance(more, (ast.Name, ast.Attribute)) else ["more"])


def _counts(seeds: str, function: Function) -> frozenset[str]:
    """Returns the texts that say how many seeds there are, the names for them included."""
    texts = {f"len({seeds})", f"{seeds}.size(0)", f"{seeds}.size()[0]", f"{seeds}.shape[0]", f"{seeds}.numel()",
             f"{seeds}.size", f"int({seeds}.size(0))"}  # fmt: skip
    names = {name for name, made in function.assigned.items() if len(made) == 1 and ast.unparse(made[0]) in texts}
    return frozenset(texts | names)


def _taken_here(one: _Sorted, counts: frozenset[str], seeds: str, function: Function) -> Iterator[ast.Subscript]:
    derived = _derived({one.name}, _others(one, seeds), function)
    yield from _slices(counts, derived, _others(one, seeds), function, one.node.lineno)


def _others(one: _Sorted, seeds: str) -> frozenset[str]:
    """Returns the names that bring rows into the order of the seeds: the seeds, and the places that sorting gives."""
    target = one.node.targets[0]
    places = target.elts[1:] if isinstance(target, ast.Tuple) else []
    return frozenset([seeds, *(place.id for place in places if isinstance(place, ast.Name))])


def _derived(first: set[str], others: frozenset[str], function: Function) -> set[str]:
    """Returns the names that hold rows in the order of some names."""
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
    return found


def _is_found(value: ast.expr, finders: set[str]) -> bool:
    """Whether rows are looked up by the seeds, `local[seeds]`, or are the places of them, `inverse[:n]`."""
    return any(
        isinstance(node, ast.Subscript)
        and (_names(node.slice) & finders or (isinstance(node.slice, ast.Slice) and _names(node.value) & finders))
        for node in walk(value)
    )


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
        return ast.unparse(value) in found or (value.attr not in ("shape", "device", "dtype") and depends(value.value, found, finders))
    if isinstance(value, ast.Name):
        return value.id in found
    if isinstance(value, ast.Subscript):
        if ast.unparse(value) in found:
            return True
        if _names(value.slice) & finders:
            return False
    return any(depends(one, found, finders) for one in ast.iter_child_nodes(value))


def _slices(
    counts: frozenset[str], derived: set[str], others: frozenset[str], function: Function, line: int
) -> Iterator[ast.Subscript]:
    """Yields `rows[:count]` where the order of the rows is that of the sorted."""
    for node in function.nodes_of(ast.Subscript):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or node.lineno < line:
            continue
        index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if not isinstance(index, ast.Slice) or index.lower is not None or index.step is not None or index.upper is None:
            continue
        if ast.unparse(index.upper) in counts and depends(node.value, derived, set(others)):
            yield node


def _taken_there(
    one: _Sorted, counts: frozenset[str], seeds: str, function: Function, project: Project
) -> Iterator[tuple[ast.Subscript, Function]]:
    """Yields (slice, where) in who gets the rows and the count together."""
    others = _others(one, seeds)
    derived = _derived({one.name}, others, function)
    for fields, count in _packed(counts, derived, others, function):
        for where in project.functions:
            yield from ((node, where) for node in _of_package(fields, count, where))
    for node in function.nodes_of(ast.Return):
        if not isinstance(node, ast.Return) or not isinstance(node.value, ast.Tuple):
            continue
        given = node.value.elts
        told = [at for at, part in enumerate(given) if ast.unparse(part) in counts]
        rows = [at for at, part in enumerate(given) if depends(part, derived, set(others))]
        for call, where in project.callers(function) if told and rows else ():
            names = _unpacked(call, where, len(given))
            if names:
                theirs = _derived({names[at] for at in rows}, frozenset(), where)
                counted = frozenset(names[at] for at in told)
                yield from ((each, where) for each in _slices(counted, theirs, frozenset(), where, call.lineno))


def _unpacked(call: ast.Call, function: Function, count: int) -> Sequence[str]:
    for node in function.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Tuple):
            names = [one.id if isinstance(one, ast.Name) else "" for one in node.targets[0].elts]
            return names if len(names) == count else ()
    return ()


def _packed(
    counts: frozenset[str], derived: set[str], others: frozenset[str], function: Function
) -> Iterator[tuple[frozenset[str], str]]:
    """Yields (fields with rows in sorted order, field with the count) of objects and dicts that hold both."""
    fields: dict[str, list[tuple[str, ast.expr]]] = {}
    for node in function.nodes_of((ast.Call, ast.Dict, ast.Assign)):
        match node:
            case ast.Call(keywords=keywords) if keywords:
                fields[f"call {id(node)}"] = [(one.arg, one.value) for one in keywords if one.arg]
            case ast.Dict(keys=keys, values=values):
                named = zip(keys, values, strict=True)
                fields[f"dict {id(node)}"] = [(str(key.value), one) for key, one in named if isinstance(key, ast.Constant)]
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attr)], value=value):
                fields.setdefault(name, []).append((attr, value))
    for several in fields.values():
        told = [name for name, value in several if ast.unparse(value) in counts]
        rows = frozenset(name for name, value in several if depends(value, derived, set(others)))
        if told and rows:
            yield rows, told[0]


def _of_package(fields: frozenset[str], count: str, function: Function) -> Iterator[ast.Subscript]:
    """Yields `rows[:batch.count]` where the rows come from the same batch's fields."""
    for holder in Counter(ast.unparse(one) for one in _fronts_by(count, function)):
        first = {f"{holder}.{name}" for name in fields} | {f"{holder}['{name}']" for name in fields}
        holders = {ast.unparse(one) for one in function.nodes_of((ast.Attribute, ast.Subscript))} & first
        derived = _derived(holders, frozenset(), function) if holders else set()
        texts = frozenset([f"{holder}.{count}", f"{holder}['{count}']"])
        yield from _slices(texts, derived, frozenset(), function, 0)


def _fronts_by(count: str, function: Function) -> Iterator[ast.expr]:
    """Yields the objects whose field says how many rows are taken from a front."""
    for node in function.nodes_of(ast.Slice):
        match node:
            case ast.Slice(lower=None, upper=ast.Attribute(value=holder, attr=attr)) if attr == count:
                yield holder
            case ast.Slice(lower=None, upper=ast.Subscript(value=holder, slice=ast.Constant(value=key))) if key == count:
                yield holder
