"""Each rank takes its share of an order that it has made by itself.

What it does: flags `items[rank::world_size]` of a list that was shuffled by an unseeded random.shuffle, or is made of a
set, and shares chosen by hash(): Python's hash of a text is another number in each process.

Why it matters: each rank deals from another pack. Some samples are taken by several ranks and others by none, shares
have other lengths, and nothing fails; where counts are added up, they are wrong.

Bad:

    mine = [name for name in names if hash(name) % world_size == rank]

Good:

    mine = [name for name in names if zlib.crc32(name.encode()) % world_size == rank]
    mine = sorted(names)[rank::world_size]

What it cannot see: orders that a library makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS

CODE = "A164"
NAME = "share-by-own-order"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "duplicate-data", "ranks"
WORDS = ("hash", "shuffle", "set")
CHECKLIST = "ranks deal from one order"
_NUMBERS = ("int", "len", "ord")
_GENERATORS = {"random.Random", "numpy.random.default_rng", "numpy.random.RandomState"}
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the shares of an order that is another one on each rank."""
    for function in project.functions_in(file):
        if "hash" in file.words:
            yield from _by_hash(function, file, project)
        yield from _cut_in_two(function, file, project)
        for node in function.nodes_of(ast.Subscript):
            part = node.slice if isinstance(node, ast.Subscript) else None
            if not (isinstance(part, ast.Slice) and part.lower is not None and part.step is not None):
                continue
            assert isinstance(node, ast.Subscript)  # noqa: S101 (its slice is a part)
            if not is_rank_dependent(part.lower, function, project, 2):
                continue
            made = _own_order(node.value, function, project)
            if made is not None:
                yield violation(
                    file,
                    node,
                    "each rank takes its share of an order of its own: some items are taken twice and others by nobody",
                    "sort the items, or shuffle them by one seed: random.Random(seed).shuffle(items)",
                    steps=(step(file, made[0], made[1]),),
                    confidence=Confidence.LIKELY,
                )


def _cut_in_two(function: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the split `rows[:cut]`, `rows[cut:]` of rows that each process has shuffled by itself."""
    parts = [node for node in function.nodes_of(ast.Subscript) if isinstance(node, ast.Subscript)]
    slices = [one for one in parts if isinstance(one.slice, ast.Slice) and one.slice.step is None]
    for node in slices:
        cut = node.slice.upper if isinstance(node.slice, ast.Slice) and node.slice.lower is None else None
        rest = cut is not None and any(
            isinstance(one.slice, ast.Slice) and one.slice.lower is not None and one.slice.upper is None
            and ast.unparse(one.slice.lower) == ast.unparse(cut) and ast.unparse(one.value) == ast.unparse(node.value)
            for one in slices
        )  # fmt: skip
        made = _own_order(node.value, function, project) if rest else None
        group = next(project.fact(ImportClosures).calls(file.shown, INIT, *WRAPPERS), None)
        if made is not None and group is not None:
            yield violation(
                file,
                node,
                "each rank cuts an order of its own in two: what one rank trains on, another one is measured on",
                "sort the items, or shuffle them by one seed: random.Random(seed).shuffle(items)",
                steps=(step(file, made[0], made[1]),),
                confidence=Confidence.LIKELY,
            )
            return


def _by_hash(function: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    for node in function.nodes_of(ast.Compare):
        if not isinstance(node, ast.Compare) or len(node.comparators) != 1:
            continue
        sides = (node.left, node.comparators[0])
        for one, other in (sides, sides[::-1]):
            call = _hashed(one)
            if call is None or not is_rank_dependent(other, function, project):
                continue
            if "PYTHONHASHSEED" in project.fact(ImportClosures).words(file.shown) or _hash_seed_in_launch(project):
                continue
            yield violation(
                file,
                call,
                f"{ast.unparse(call)[:50]} is another number in each process: the ranks' shares overlap, and some "
                "items belong to nobody",
                "a hash that is the same everywhere: zlib.crc32(name.encode()), or sort and take [rank::world_size]",
                steps=(step(file, node, "the share of one rank"),),
            )


def _hashed(value: ast.expr) -> ast.Call | None:
    """Returns the call of hash() in `hash(x) % n` whose argument may be a text."""
    inner = value.left if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod) else None
    for node in walk(inner) if inner is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hash" and node.args:
            given = node.args[0]
            number = isinstance(given, ast.Call) and last_name(given.func) in _NUMBERS
            return None if number else node
    return None


def _hash_seed_in_launch(project: Project) -> bool:
    return any("PYTHONHASHSEED" in one.words for one in project.audited)


def _own_seed(call: ast.Call, function: Function, project: Project) -> ast.expr | None:
    """Returns the seed, another one on each rank, of the generator that a call of shuffle() is one's method of."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "shuffle"):
        return None
    for one, where in origins(call.func.value, function, project):
        if isinstance(one, ast.Call) and project.name(one.func, where) in _GENERATORS and len(one.args) == 1:
            for seed, place in origins(one.args[0], where, project):
                if is_rank_dependent(seed, place, project, 1):
                    return seed
    return None


def _own_order(value: ast.expr, function: Function, project: Project) -> tuple[ast.AST, str] | None:
    """Returns what gives the items an order of the rank's own."""
    if isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple") and value.args:
        inner = value.args[0]
        if isinstance(inner, (ast.Set, ast.SetComp)) or (isinstance(inner, ast.Call) and last_name(inner) == "set"):
            return value, "the order of a set of texts is another one in each process"
    key = ast.unparse(value)
    if not isinstance(value, (ast.Name, ast.Attribute)):
        return None
    if any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sort"
        and ast.unparse(node.func.value) == key
        for node in function.nodes_of(ast.Call)
    ):  # fmt: skip
        return None
    words = project.fact(ImportClosures).words(function.file)
    for node in function.nodes_of(ast.Call):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.args[0]) == key and node.lineno < value.lineno:
            seed = _own_seed(node, function, project)
            if seed is not None:
                return node, f"shuffled by the rank's own seed, {ast.unparse(seed)[:40]}"
        if isinstance(node, ast.Call) and project.name(node.func, function) in _SHUFFLES and node.args:
            seeded = any("seed" in word.lower() for word in words)
            if ast.unparse(node.args[0]) == key and node.lineno < value.lineno and not seeded:
                return node, "shuffled by the process's own random numbers, which nothing seeds"
    if isinstance(value, ast.Name):
        for assigned in function.assigned.get(value.id, ()):
            if isinstance(assigned, ast.Call) and any(source_of(one) == RANK for one in assigned.args):
                return None
            if not isinstance(assigned, ast.Name) and (found := _own_order(assigned, function, project)) is not None:
                return found
    return None
