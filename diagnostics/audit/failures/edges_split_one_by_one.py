"""The edges of an undirected graph are split one by one, so that the reverse of a test edge is trained on.

What it does: flags a list of edges that holds each of them in both directions (`adj | adj.t()`, an edge list joined
with itself turned round, to_undirected()) and of which pieces of a random permutation make the parts for training and
for validation or test.

Why it matters: (u, v) and (v, u) are one edge, and a model mostly gives them one score. With a fifth held out, the
reverse of four in five test edges is a training edge: AUC and hits measure what was learned by heart.

Bad:

    edges = (adj | adj.t()).nonzero().t()
    order = torch.randperm(edges.shape[1])
    test, train = edges[:, order[:n]], edges[:, order[n:]]

Good:

    edges = edges[:, edges[0] < edges[1]]          # each edge once; both directions of the training's after the split

What it cannot see: files that hold both directions, and splits by a random mask.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.edges import both_directions
from diagnostics.static.samples.transforms import bound

CODE = "A527"
NAME = "edges-split-one-by-one"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("randperm", "permutation")
CHECKLIST = "both directions of an edge are in one part of the split"
_ORDERS = frozenset(["randperm", "permutation"])
_HELD_OUT = re.compile(r"(?:^|_)(?:val|valid|validation|test|eval|dev|held)(?:_|$)", re.IGNORECASE)
_TRAINED = re.compile(r"train|(?:^|_)fit(?:_|$)|message", re.IGNORECASE)
# What may put both directions of an edge into one part again.
_MENDS = re.compile(r"revers|mirror|canonical|directed|duplicate|isin|difference|twin", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the permutations by which such edges are split."""
    for function in () if file.is_test else project.functions_in(file):
        orders = dict(_orders(function))
        for base, parts in _parts(function, orders).items():
            names = " ".join(name for name, _, _ in parts)
            words = {
                last_name(one) for one in function.nodes_of((ast.Name, ast.Attribute)) if isinstance(one, ast.expr)
            }
            held = any(_HELD_OUT.search(name) for name, _, _ in parts)
            if not held or not _TRAINED.search(names) or any(_MENDS.search(one) for one in words):
                continue
            mirrored = both_directions(parts[0][1].value, function, project)
            if mirrored is None:
                continue
            made, where = mirrored
            yield violation(
                file,
                orders[parts[0][2]],
                f"'{base}' holds each edge in both directions and is split edge by edge: the reverse of most edges "
                "that are held out is trained on",
                f"split each edge once, {base}[:, {base}[0] < {base}[1]], and add the reverse of the training's "
                "edges behind the split",
                steps=(
                    step(project.file_with(where), made, "both directions of each edge"),
                    *(step(file, node, f"a part of them, {name}") for name, node, _ in parts if name),
                ),
                confidence=Confidence.LIKELY,
            )


def _orders(function: Function) -> Iterator[tuple[str, ast.Call]]:
    """Yields (name, call) of the permutations that a function draws."""
    for node in function.nodes_of(ast.Assign):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and last_name(value.func) in _ORDERS and isinstance(node, ast.Assign):
            yield from ((one.id, value) for one in node.targets if isinstance(one, ast.Name))


def _parts(function: Function, orders: dict[str, ast.Call]) -> dict[str, list[tuple[str, ast.Subscript, str]]]:
    """Returns (name, part, permutation) of what pieces of a permutation take out of the same thing, by its text."""
    found: dict[str, list[tuple[str, ast.Subscript, str]]] = defaultdict(list)
    for node in function.nodes_of(ast.Assign) if orders else ():
        assert isinstance(node, ast.Assign)  # noqa: S101 (asked for by kind)
        target = node.targets[0]
        pairs = (
            zip(target.elts, node.value.elts, strict=False)
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            else [(target, node.value)]
        )
        for name, value in pairs:
            for one in walk(value):
                order = _piece(one.slice, function, orders) if isinstance(one, ast.Subscript) else ""
                if order and isinstance(one, ast.Subscript) and ast.unparse(one.value) != order:
                    found[ast.unparse(one.value)].append((last_name(name), one, order))
    return {base: parts for base, parts in found.items() if len(parts) > 1}


def _piece(index: ast.expr, function: Function, orders: dict[str, ast.Call]) -> str:
    """Returns the permutation of which an index is a piece: `order[:n]`, by a name too."""
    last = index.elts[-1] if isinstance(index, ast.Tuple) else index
    made = [one for one, _ in bound(last.id, function)] if isinstance(last, ast.Name) else [last]
    for value in made:
        for one in walk(value):
            if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice) and last_name(one.value) in orders:
                return last_name(one.value)
    return ""
