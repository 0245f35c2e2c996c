"""Whether a list of edges holds each of them in both directions: it was made so, and nothing took one of them out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.samples.transforms import At, bound

_ROUNDS = 12
_TRANSPOSED = (".t()", ".T", ".mT", ".transpose(0, 1)", ".transpose(1, 0)", ".transpose()", ".permute(1, 0)")
_TURNED = (".flip(0)", ".flip(1)", ".flip([0])", ".flip([1])", ".flip(dims=[0])", "[[1, 0]]", "[:, [1, 0]]", "[::-1]",
           "[:, ::-1]", "[[1, 0], :]")  # fmt: skip
_JOINS = frozenset(["cat", "concat", "concatenate", "hstack", "vstack"])
_EITHER = frozenset(["maximum", "logical_or", "bitwise_or", "max"])
_PAIRS = frozenset(["cdist", "pairwise_distances", "euclidean_distances", "cosine_similarity"])  # of one set of points
_MIRRORS = frozenset(["to_undirected", "add_reverse_edges", "to_bidirected", "add_reversed"])
# They make a list of a matrix: one entry for each of its numbers that is not zero.
_LISTING = frozenset(["nonzero", "argwhere", "indices", "row", "col", "to_sparse", "tocoo", "coo_matrix",
                      "dense_to_sparse", "from_scipy_sparse_matrix", "edges", "edge_index"])  # fmt: skip
_HALVES = frozenset(["triu", "tril", "unique", "triu_indices", "where"])


def both_directions(
    value: ast.expr,
    function: Function,
    project: Project,
    at: At = None,
    rounds: int = _ROUNDS,
    listed: bool = False,
) -> tuple[ast.expr, Function] | None:
    """Returns what gives a list of edges the reverse of each, with the function it stands in.

    A symmetric matrix does where its entries are `listed`: its rows are split as any others are.
    """
    if _mirrors(value) or (listed and _is_symmetric(value)):
        return value, function
    listed = listed or last_name(value.func if isinstance(value, ast.Call) else value) in _LISTING
    for inner, where, part in _ways(value, function, at, project) if rounds else ():
        found = both_directions(inner, where, project, part, rounds - 1, listed)
        if found is not None:
            return found
    return None


def _is_symmetric(value: ast.expr) -> bool:
    """Whether a matrix is joined with its transpose, or holds something of each pair of one set of points."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.BitOr, ast.Add)):
        return _is_turned(value.left, value.right, _TRANSPOSED)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.MatMult):  # x @ x.T: all pairs, in both orders
        return ast.unparse(value.right) in [ast.unparse(value.left) + way for way in _TRANSPOSED]
    if not isinstance(value, ast.Call):
        return False
    last = last_name(value.func)
    if last in _PAIRS:
        return len({ast.unparse(one) for one in value.args[:2]}) == 1
    return last in _EITHER and len(value.args) == 2 and _is_turned(value.args[0], value.args[1], _TRANSPOSED)


def _mirrors(value: ast.expr) -> bool:
    """Whether a list of edges is joined with itself turned round."""
    if not isinstance(value, ast.Call):
        return False
    last = last_name(value.func)
    if last in _JOINS and value.args and isinstance(value.args[0], (ast.List, ast.Tuple)):
        parts = value.args[0].elts
        return len(parts) == 2 and _is_turned(parts[0], parts[1], _TURNED)
    return last in _MIRRORS


def _is_turned(one: ast.expr, other: ast.expr, ways: tuple[str, ...]) -> bool:
    """Whether one of two is the other with rows and columns, or both ends of its edges, exchanged."""
    texts = ast.unparse(one), ast.unparse(other)
    for here, there in (texts, texts[::-1]):
        if any(there == here + way for way in ways) or there in (
            f"torch.stack([{here}[1], {here}[0]])",
            f"np.stack([{here}[1], {here}[0]])",
        ):
            return True
    return False


def _ways(value: ast.expr, function: Function, at: At, project: Project) -> Iterator[tuple[ast.expr, Function, At]]:
    match value:
        case ast.Name():
            made = _last(value.id, function, value.lineno)
            yield from ((one, function, at if part is None else part) for one, part in made)
            if not made and value.id in function.parameters:
                yield from ((one, where, at) for one, where in list(project.arguments(value.id, function))[:4])
        case ast.Attribute():
            kind = project.class_of(function) if last_name(value.value) == "self" else None
            for method in project.functions_seeing(kind) if kind is not None else ():
                yield from ((one, method, at if part is None else part)
                            for one, part in _last(f"self.{value.attr}", method, value.lineno))  # fmt: skip
            if kind is None:
                yield value.value, function, at
        case ast.Tuple(elts=parts) if isinstance(at, int) and at < len(parts):
            yield parts[at], function, None
        case ast.Compare(left=left):  # of a matrix: which pairs are near enough
            yield left, function, None
        case ast.Subscript(value=base, slice=index):
            if not chooses(index, function):
                place = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else None
                yield base, function, place
        case ast.Call():
            targets = [one for one in project.targets(value, function) if not one.name.endswith("__init__")]
            for target in targets[:3]:
                yield from ((node.value, target, at) for node in target.nodes_of(ast.Return)
                            if isinstance(node, ast.Return) and node.value is not None)  # fmt: skip
            if not targets and last_name(value.func) not in _HALVES:
                library = project.name(value.func, function).startswith(("torch.", "numpy.", "torch_geometric."))
                if isinstance(value.func, ast.Attribute) and not library:
                    yield value.func.value, function, at
                yield from ((one, function, at) for one in value.args[:1])


def _last(text: str, function: Function, line: int) -> list[tuple[ast.expr, At]]:
    """Returns what a name was set to last before a line, of a value that is made in several steps; else at all."""
    made = list(bound(text, function))
    before = [one for one in made if one[0].lineno < line]
    return before[-1:] or made[-1:]


def chooses(index: ast.expr, function: Function) -> bool:
    """Whether edges are chosen by a test of them: `edges[:, edges[0] < edges[1]]`."""
    named = [one for node in walk(index) if isinstance(node, ast.Name) for one, _ in bound(node.id, function)]
    return any(isinstance(node, ast.Compare) for one in (index, *named) for node in walk(one))
