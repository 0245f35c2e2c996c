"""Checkpoints are sorted by their names, which are numbers without leading zeros.

What it does: flags `sorted`, `max` and `.sort()` over listed files of a prefix like "step_", without a key or with one
that is a text again (`path.name`, `name.split("_")[-1]`), of which the first or last is taken, where the program writes
files of that prefix with a number of no fixed width behind it.

Why it matters: as a text, "step_9750" comes behind "step_10000". A run goes on from an old checkpoint unnoticed, and a
rotation that keeps the last three deletes the newest.

Bad:

    os.makedirs(f"{root}/step_{step}")
    newest = sorted(glob(f"{root}/step_*"))[-1]

Good:

    newest = max(glob(f"{root}/step_*"), key=lambda path: int(path.rsplit("_", 1)[1]))

What it cannot see: names that other programs write.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import constant

CODE = "A424"
NAME = "checkpoints-sorted-as-text"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "checkpoint-not-loaded", "resumed"
WORDS = ("listdir", "glob", "iglob", "iterdir", "scandir")
CHECKLIST = "the newest checkpoint is found by its number"
_LISTS = frozenset(["listdir", "glob", "iglob", "iterdir", "scandir", "rglob"])
_ARE_NUMBERS = frozenset(["isdigit", "isnumeric", "isdecimal"])
_AS_NUMBERS = frozenset(["int", "float", "getmtime", "stat"])  # what is sorted is then no text
_PREFIX = re.compile(r"[A-Za-z]\w*[-_=.]?$")
_COUNTS = re.compile(r"step|epoch|iter|update|round|count|num|^i$|^idx$|^n$", re.IGNORECASE)
_WIDTH = re.compile(r"\d{1,4}d?$|0\d")
_FORMATTED = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]\w*[-_=.]?)(?:\{(\w*)\}|%d)")
_KEEP_TEXT = frozenset(["str", "basename", "split", "rsplit", "partition", "rpartition", "strip", "lower", "replace",
                        "removeprefix", "removesuffix", "lstrip", "rstrip", "splitext", "fspath"])  # fmt: skip
_GROUP = re.compile(r"[(\\]")  # where the number begins in a regular expression
_MARKS = "_-=."  # between a word and its number
_MOST = 10  # expressions that a list is made of
_SAME_ITEMS = frozenset(["list", "tuple", "reversed", "map", "filter"])

_Part = tuple[ast.expr, Function]  # an expression, and where it stands


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the choices that "10" before "9" leads astray."""
    written, padded = _written(project)
    for call, function in project.calls_in(file) if not file.is_test else ():
        listed = _sorts(call, function, project)
        if listed is not None and (bare := _bare(listed, call, function, project)) is not None:
            if _is_chosen_from(call, function, project):
                yield _of_numbers(file, call, bare, project)
            continue
        if listed is None or not _goes_by_text(call, function, project):
            continue
        known = [one for one in _prefixes(listed, project) if one not in padded]
        asked = [one + mark for one in known for mark in ("", *_MARKS)]  # "step": "step_" as well
        prefix = next((one for one in asked if one in written), None)
        if prefix is None or not _is_chosen_from(call, function, project):
            continue
        place, where = written[prefix]
        yield violation(
            file,
            call,
            f"these names are sorted as texts, and the number behind '{prefix}' has no fixed width: '{prefix}9' "
            f"counts as newer than '{prefix}10'",
            f"key=lambda name: int(...) of what stands behind '{prefix}'",
            steps=(step(project.file_with(where), place, f"'{prefix}' and a number of any width is written here"),),
            confidence=Confidence.LIKELY,
        )


def _bare(listed: list[_Part], call: ast.Call, function: Function, project: Project) -> tuple[ast.AST, Function] | None:
    """Returns where names that are nothing but a number get one of any width, where such names are sorted as texts."""
    called = {last_name(node.func) for one, _ in listed for node in walk(one) if isinstance(node, ast.Call)}
    as_text = _goes_by_text(call, function, project)
    return next(iter(_numbers(project)), None) if as_text and called & _ARE_NUMBERS else None


def _goes_by_text(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether names are compared as they are, or by a part of them that is a text: `key=lambda path: path.name`."""
    key = next((one.value for one in call.keywords if one.arg == "key"), None)
    if not isinstance(key, ast.Lambda):
        return key is None or project.name(key, function) in ("str", "os.path.basename")
    nodes = list(walk(key.body))
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    read = [node for node in nodes if isinstance(node, ast.Attribute) and node not in called]
    items = [node.value for node in nodes if isinstance(node, ast.Subscript)]
    if any(not isinstance(one, ast.Call) for one in items):
        return False  # an item of a tuple or of a table may be a number
    return all(last_name(one) in _KEEP_TEXT for one in called) and all(
        node.attr in ("name", "stem", "os", "path") for node in read
    )


@per_project
def _numbers(project: Project) -> tuple[tuple[ast.AST, Function], ...]:
    """Returns where a counted number is a name by itself, as wide as it comes or as the number of its run's steps."""
    found: list[tuple[ast.AST, Function]] = []
    for function in project.functions:
        for node in function.nodes_of((ast.JoinedStr, ast.BinOp)):
            value = node.values[0] if isinstance(node, ast.JoinedStr) and len(node.values) == 1 else None
            if isinstance(value, ast.FormattedValue) and _is_count(value.value) and value.format_spec is not None:
                widths = [one for one in walk(value.format_spec) if isinstance(one, ast.FormattedValue)]
                if any(_follows_length(one.value, function) for one in widths):
                    found.append((node, function))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Call):
                given = node.right.args
                if last_name(node.right.func) == "str" and given and _is_count(given[0]):
                    found.append((node, function))
    return tuple(found)


def _follows_length(width: ast.expr, function: Function) -> bool:
    """Whether a width is that of a number: len(str(total))."""
    values = [width, *(function.assigned.get(width.id, ()) if isinstance(width, ast.Name) else ())]
    return any(isinstance(node, ast.Call) and last_name(node.func) == "len" for one in values for node in walk(one))


def _of_numbers(file: ProjectFile, call: ast.Call, bare: tuple[ast.AST, Function], project: Project) -> Violation:
    return violation(
        file,
        call,
        "these names are numbers and sorted as texts, and not all of one width: where a run wrote shorter ones, its "
        "last is not the newest",
        "key=lambda path: int(path.name)",
        steps=(step(project.file_with(bare[1]), bare[0], "the width of the number is another one in another run"),),
        confidence=Confidence.LIKELY,
    )


def _sorts(call: ast.Call, function: Function, project: Project) -> list[_Part] | None:
    """Returns the expressions that make the list of names which a call sorts, or takes the last of."""
    name = project.name(call.func, function) if isinstance(call.func, ast.Name) else ""
    if name in ("sorted", "max", "min") and len(call.args) == 1:
        over = call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "sort" and not call.args:
        over = call.func.value
    else:
        return None
    found: list[_Part] = []
    waiting: list[_Part] = [(over, function)]
    while waiting and len(found) < _MOST:
        part = waiting.pop(0)
        if not any(part[0] is one for one, _ in found):
            found.append(part)
            waiting += _made_of(*part, project)
    called = {last_name(node.func) for one, _ in found for node in walk(one) if isinstance(node, ast.Call)}
    return found if called & _LISTS and called.isdisjoint(_AS_NUMBERS) else None


def _made_of(value: ast.expr, function: Function, project: Project) -> Iterator[_Part]:
    """Yields what the names in an expression hold, what is put into them one by one, and what functions give back."""
    file = project.file_with(function)
    for name in (one for one in walk(value) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)):
        yield from ((one, function) for one in function.assigned.get(name.id, ())[:2])
        if name.id in function.parameters and isinstance(value, ast.Name):
            yield from islice(project.arguments(name.id, function), 2)
        for put in (one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and one.args):
            if ast.unparse(put.func) == f"{name.id}.append":
                yield put.args[0], function
                yield from ((one, function) for one in _above(put, file))
    for call in (one for one in walk(value) if isinstance(one, ast.Call)):
        for target in project.targets(call, function):
            yield from ((one.value, target) for one in target.nodes_of(ast.Return)
                        if isinstance(one, ast.Return) and one.value is not None)  # fmt: skip


def _above(node: ast.AST, file: ProjectFile) -> Iterator[ast.expr]:
    """Yields the tests and the loops under which a statement of a function stands."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(outer, ast.If):
            yield outer.test
        elif isinstance(outer, ast.For):
            yield outer.iter
        outer = file.parents.get(outer)


def _prefixes(listed: list[_Part], project: Project) -> Iterator[str]:
    """Yields what the listed names begin with, as patterns and tests say."""
    for one, function in listed:
        for node in walk(one):
            text = constant(node, function, project) if isinstance(node, (ast.Constant, ast.Name)) else None
            if isinstance(text, str):
                pieces = _GROUP.split(text.lstrip("^").rpartition("/")[2].partition("[")[0].replace("*", "("))
                for piece in pieces[: max(len(pieces) - 1, 1)]:  # what stands behind the last `*` is an ending
                    if _PREFIX.fullmatch(piece.lstrip("_-.=")):
                        yield piece.lstrip("_-.=")


@per_project
def _written(project: Project) -> tuple[dict[str, tuple[ast.AST, Function]], frozenset[str]]:
    """Returns the prefixes behind which names get a number of any width, and those that are padded somewhere."""
    found: dict[str, tuple[ast.AST, Function]] = {}
    padded: set[str] = set()
    for function in project.functions:
        for node in function.nodes_of((ast.JoinedStr, ast.Call, ast.BinOp)):
            for prefix, fixed in _numbered(node, function, project):
                if fixed:
                    padded.add(prefix)
                else:
                    found.setdefault(prefix, (node, function))
    return {prefix: place for prefix, place in found.items() if prefix not in padded}, frozenset(padded)


def _numbered(node: ast.AST, function: Function, project: Project) -> Iterator[tuple[str, bool]]:
    """Yields (prefix, whether the number has a width) of a text with a counted number behind a word."""
    if isinstance(node, ast.JoinedStr):
        for number, value in enumerate(node.values[1:], start=1):
            text = "".join(_text(one, function, project) for one in node.values[max(number - 2, 0) : number])
            prefix = text.rpartition("/")[2].lstrip("_-.=")
            if isinstance(value, ast.FormattedValue) and _PREFIX.fullmatch(prefix) and _is_count(value.value):
                width = ast.unparse(value.format_spec) if value.format_spec is not None else ""
                yield prefix, bool(_WIDTH.search(width.strip("f'\""))) or "zfill" in ast.unparse(value.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        pattern = node.func.value.value if isinstance(node.func.value, ast.Constant) else ""
        given = (*node.args, *(each.value for each in node.keywords))
        if isinstance(pattern, str) and any(_is_count(one) for one in given):
            yield from ((one[1], False) for one in _FORMATTED.finditer(pattern))
    elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        text = node.left.value
        if isinstance(node.op, ast.Mod) and any(_is_count(one) for one in getattr(node.right, "elts", [node.right])):
            yield from ((one[1], False) for one in _FORMATTED.finditer(text))
        prefix = text.rpartition("/")[2]
        as_text = isinstance(node.right, ast.Call) and last_name(node.right.func) == "str" and node.right.args
        if isinstance(node.op, ast.Add) and as_text and _PREFIX.fullmatch(prefix) and _is_count(node.right.args[0]):  # type: ignore[attr-defined]
            yield prefix, False


def _text(value: ast.expr, function: Function, project: Project) -> str:
    """Returns a piece of a text where it is known, "/" where it is not: a name begins anew behind it."""
    known = constant(value.value if isinstance(value, ast.FormattedValue) else value, function, project)
    return known if isinstance(known, str) else "/"


def _is_count(value: ast.expr) -> bool:
    while isinstance(value, ast.BinOp):
        value = value.left
    return bool(_COUNTS.search(last_name(value)))


def _is_chosen_from(call: ast.Call, function: Function, project: Project, depth: int = 2) -> bool:
    """Whether the first or the last of what a call gives is taken, here or by a caller."""
    if last_name(call.func) in ("max", "min"):
        return True
    file = project.file_with(function)
    if last_name(call.func) == "sort":
        return isinstance(call.func, ast.Attribute) and _is_cut(ast.unparse(call.func.value), function, project, depth)
    inner: ast.AST = call
    outer = file.parents.get(call)
    while outer is not None:
        if isinstance(outer, ast.Subscript) and outer.value is inner:
            return _is_end(outer.slice)
        if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], (ast.Name, ast.Attribute)):
            return _is_cut(ast.unparse(outer.targets[0]), function, project, depth)
        if isinstance(outer, ast.Return):
            return depth > 0 and any(_is_chosen_from(one, caller, project, depth - 1)
                                     for one, caller in project.callers(function)[:6])  # fmt: skip
        goes_on = isinstance(outer, (ast.ListComp, ast.comprehension, ast.IfExp, ast.BoolOp)) or (
            isinstance(outer, ast.Call) and last_name(outer.func) in _SAME_ITEMS
        )
        if not goes_on:
            return False
        inner, outer = outer, file.parents.get(outer)
    return False


def _is_cut(name: str, function: Function, project: Project, depth: int) -> bool:
    """Whether the ends of what a name holds are taken, here, or by those to whom it is given back."""
    for node in function.own_nodes:
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == name and _is_end(node.slice):
            return True
        pops = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop"
        if pops and ast.unparse(node.func.value) == name:  # type: ignore[attr-defined]
            return True
        given = isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) == name
        callers = project.callers(function)[:6] if given and depth > 0 else ()
        if any(_is_chosen_from(one, caller, project, depth - 1) for one, caller in callers):
            return True
    return False


def _is_end(index: ast.expr) -> bool:
    if isinstance(index, ast.Slice):
        if index.step is not None:
            return False  # `runs[rank::world_size]`: the share of one rank
        return index.lower is not None or index.upper is not None
    return isinstance(index, ast.UnaryOp) or (isinstance(index, ast.Constant) and index.value == 0)
