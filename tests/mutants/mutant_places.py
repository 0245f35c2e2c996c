"""Anchors in a file's syntax tree, and statements put in at them; the lines of what was put in are known afterwards."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mutant_programs import Place

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.While)


@dataclass(frozen=True, slots=True)
class Mutated:
    """A file with a fault in it, and the lines, counted from 1, on which the fault stands."""

    text: str
    lines: range


def function(tree: ast.Module, name: str) -> ast.FunctionDef:
    """Returns the function of a dotted name. Raises ValueError where there is none."""
    node: ast.AST = tree
    for part in name.split("."):
        found = [
            one
            for one in ast.walk(node)
            if isinstance(one, (*FUNCTIONS, ast.ClassDef)) and one.name == part and one is not node
        ]
        if not found:
            raise ValueError(f"no {name}")
        node = found[0]
    if not isinstance(node, ast.FunctionDef):
        raise ValueError(f"{name} is no function")
    return node


def loop(source: str, tree: ast.Module, place: Place) -> ast.For | ast.While:
    """Returns the loop of a place. Raises ValueError where there is none."""
    rows = source.splitlines()
    for node in ast.walk(function(tree, place.function)):
        if isinstance(node, LOOPS) and rows[node.lineno - 1].strip().startswith(place.loop):
            return node
    raise ValueError(f"{place.file}: no loop {place.loop!r} in {place.function}")


def anchors(source: str, place: Place) -> list[int]:
    """Returns the lines before which a statement can be put, counted from 1."""
    tree = ast.parse(source)
    body = loop(source, tree, place).body if place.loop else function(tree, place.function).body
    rows = source.splitlines()
    found = []
    began = not place.first
    for statement in _flat(body):
        row = rows[_first_line(statement) - 1].strip()
        began = began or row.startswith(place.first)
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        alone = rows[_first_line(statement) - 1][: statement.col_offset].strip() == ""
        if began and alone and not docstring:
            found.append(_first_line(statement))
        if began and place.last and row.startswith(place.last):
            break
    if not found:
        raise ValueError(f"{place.file}: no anchor in {place.function}")
    return found


def after_assignment(source: str, place: Place, name: str) -> list[int]:
    """Returns the anchor behind the first statement of a place that binds a name; [] where none does."""
    lines = anchors(source, place)
    binding = {
        node.lineno
        for node in ast.walk(function(ast.parse(source), place.function))
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    }
    return [line for before, line in itertools.pairwise(lines) if before in binding][:1]


def with_statements(source: str, line: int, statements: Sequence[str], imports: Sequence[str]) -> Mutated:
    """Puts statements before a line, at its indentation, and imports behind the file's first ones."""
    rows = source.splitlines()
    margin = rows[line - 1][: len(rows[line - 1]) - len(rows[line - 1].lstrip())]
    new = textwrap.indent("\n".join(statements), margin).splitlines()
    missing, after = _missing(source, imports)
    text = [*rows[:after], *missing, *rows[after : line - 1], *new, *rows[line - 1 :]]
    began = line + len(missing)
    return Mutated("\n".join(text) + "\n", range(began, began + len(new)))


def with_iterable(source: str, place: Place, expression: str, imports: Sequence[str]) -> Mutated:
    """Puts another iterable into the header of a place's loop; `{0}` in the expression is the one that was there."""
    tree = ast.parse(source)
    node = loop(source, tree, place)
    if not isinstance(node, ast.For):
        raise ValueError("a while loop has no iterable")
    rows = source.splitlines()
    target = node.iter
    if target.lineno != target.end_lineno:
        raise ValueError("the iterable stands on several lines")
    row = rows[target.lineno - 1].encode()
    old = row[target.col_offset : target.end_col_offset].decode()
    new = row[: target.col_offset].decode() + expression.format(old) + row[target.end_col_offset :].decode()
    missing, after = _missing(source, imports)
    text = [*rows[:after], *missing, *rows[after : target.lineno - 1], new, *rows[target.lineno :]]
    began = target.lineno + len(missing)
    return Mutated("\n".join(text) + "\n", range(began, began + 1))


def assigned(source: str, name: str) -> set[str]:
    """Returns the names that a function binds, its parameters too."""
    node = function(ast.parse(source), name)
    bound = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return bound | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}


def bound_by(statement: str) -> str:
    """Returns the name that an import binds."""
    node = ast.parse(statement).body[0]
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    alias = node.names[0]
    return (alias.asname or alias.name).partition(".")[0]


def _missing(source: str, imports: Sequence[str]) -> tuple[list[str], int]:
    """Returns the imports that a file lacks and the number of lines behind which they go."""
    tree = ast.parse(source)
    there = {ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))}
    plain = [
        node
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__"
    ]
    after = (plain[0].end_lineno or 0) if plain else 0
    return [one for one in imports if one not in there], after


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements that are always reached: those of `with` blocks, too."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from _flat(statement.body)


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])
