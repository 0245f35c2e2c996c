"""Windows that are cut out of one series, each a place further, together with what follows: a forecast's. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.samples.transforms import bound

_SAME = frozenset(["stack", "array", "asarray", "tensor", "as_tensor", "from_numpy", "float", "unsqueeze", "Tensor",
                   "FloatTensor", "cat", "concatenate", "vstack", "astype", "to", "list", "reshape", "view", "numpy",
                   "TensorDataset"])  # fmt: skip
_ROUNDS = 6


def windows_of(value: ast.expr, function: Function, project: Project) -> tuple[ast.Subscript, Function] | None:
    """Returns the slice by which the windows that a value holds are cut, where it holds such windows."""
    return _windows(value, function, project, _ROUNDS)


def _windows(
    value: ast.expr, function: Function, project: Project, rounds: int
) -> tuple[ast.Subscript, Function] | None:
    if not rounds:
        return None
    for one, where in origins(value, function, project):
        if isinstance(one, ast.ListComp):
            found = _in_comprehension(one, where)
        elif isinstance(one, ast.List) and not one.elts and isinstance(value, ast.Name) and where is function:
            found = _appended(value.id, where)
        elif isinstance(one, ast.Call):
            found = _in_class(one, where, project)
            inner = [*one.args, *([one.func.value] if isinstance(one.func, ast.Attribute) else [])]
            if found is None and last_name(one.func) in _SAME:
                each = (_windows(part, where, project, rounds - 1) for part in inner)
                hit = next((part for part in each if part is not None), None)
                if hit is not None:
                    return hit
        else:
            continue
        if found is not None:
            return found, where
    return None


def _in_comprehension(value: ast.ListComp, function: Function) -> ast.Subscript | None:
    counter = value.generators[0]
    if len(value.generators) > 1 or not isinstance(counter.target, ast.Name) or not _by_one(counter.iter):
        return None
    return _forecast(walk(value.elt), function.own_nodes, counter.target.id)


def _appended(name: str, function: Function) -> ast.Subscript | None:
    """Returns the slice that a loop puts into a list, of a series whose later values the loop reads as well."""
    for loop in function.nodes_of(ast.For):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not _by_one(loop.iter):
            continue
        inside = list(walk(loop))
        for node in inside:
            puts = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
            if not puts or last_name(node.func.value) != name:  # type: ignore[attr-defined]
                continue
            given = [part for one in node.args for part in _meant(one, function)]  # type: ignore[attr-defined]
            found = _forecast(given, inside, loop.target.id)
            if found is not None:
                return found
    return None


def _meant(value: ast.expr, function: Function) -> Iterator[ast.AST]:
    """Yields the nodes of an expression, and of what its names are set to."""
    for one in walk(value):
        yield one
        if isinstance(one, ast.Name):
            for made, _ in bound(one.id, function):
                yield from walk(made)


def _in_class(call: ast.Call, function: Function, project: Project) -> ast.Subscript | None:
    """Returns the slice by which a data set of the project cuts its window number i."""
    for kind in project.kinds(call, function):
        for method in kind.body if isinstance(kind, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "__getitem__" and len(method.args.args) > 1:
                nodes = list(walk(method))
                found = _forecast(nodes, nodes, method.args.args[1].arg)
                if found is not None:
                    return found
    return None


def _by_one(value: ast.expr) -> bool:
    """Whether a loop counts one by one: range() without a step."""
    return isinstance(value, ast.Call) and last_name(value.func) == "range" and len(value.args) < 3


def _forecast(given: Iterable[ast.AST], around: Sequence[ast.AST], counter: str) -> ast.Subscript | None:
    """Returns the slice from `counter` on, of a series that is read at `counter + n` as well."""
    for one in given:
        index = _first(one)
        if not (isinstance(one, ast.Subscript) and isinstance(index, ast.Slice) and isinstance(index.lower, ast.Name)):
            continue
        if index.lower.id != counter or index.upper is None or counter not in _names(index.upper):
            continue
        base = ast.unparse(one.value)
        if any(_is_later(other, counter) and ast.unparse(other.value) == base for other in around
               if isinstance(other, ast.Subscript)):  # fmt: skip
            return one
    return None


def _is_later(node: ast.Subscript, counter: str) -> bool:
    """Whether a series is read from a place on that a setting says: `series[t + history]`."""
    place = _first(node)
    start = place.lower if isinstance(place, ast.Slice) else place
    if not (isinstance(start, ast.BinOp) and isinstance(start.op, ast.Add)):
        return False
    return counter in _names(start) and len(_names(start)) > 1


def _first(node: ast.AST) -> ast.expr | None:
    """Returns the index along the first axis."""
    if not isinstance(node, ast.Subscript):
        return None
    return node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice


def _names(value: ast.AST) -> set[str]:
    return {ast.unparse(one) for one in walk(value) if isinstance(one, (ast.Name, ast.Attribute))}
