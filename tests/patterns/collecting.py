"""Finds every regular expression of the project: what modules hold after import, and what code makes where it runs."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

PROJECT = Path(__file__).parent.parent.parent
PACKAGES = ("diagnostics", "ups")
FUNCTIONS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SAMPLE = "name"  # stands for a value that code puts into a pattern: they are escaped words
ANCHORED = {"match", "fullmatch"}


@dataclass(frozen=True, slots=True)
class Found:
    """One pattern, where it stands, and how it is used: `anchored` where only at the beginning of a text."""

    pattern: re.Pattern[Any]
    where: str
    anchored: bool


def modules() -> Iterator[tuple[ModuleType | None, Path]]:
    """Yields each module that uses `re`, with its file; None for one that cannot be imported here."""
    for package in PACKAGES:
        for path in sorted((PROJECT / package).rglob("*.py")):
            parts = path.relative_to(PROJECT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if re.search(
                r"^\s*(?:import re$|import re,|from re import|import .*\bre\b)", path.read_text("utf-8"), re.MULTILINE
            ):
                yield _imported(name), path


def all_patterns() -> tuple[list[Found], list[str]]:
    """Returns all patterns, and the places whose pattern could not be told."""
    found: dict[tuple[Any, int, bool], Found] = {}
    unknown = []
    read = [(module, path, ast.parse(path.read_text(encoding="utf-8"))) for module, path in modules()]
    elsewhere = _used_elsewhere(tree for _, _, tree in read)
    for module, path, tree in read:
        shown = str(path.relative_to(PROJECT))
        used = _methods(tree)
        for (home, name), methods in elsewhere.items():
            if module is not None and home == module.__name__:
                used.setdefault(name, set()).update(methods)
        held = list(_held(vars(module))) if module is not None else []
        for name, pattern in held:
            anchored = bool(used.get(name)) and used[name] <= ANCHORED
            found.setdefault((pattern.pattern, pattern.flags, anchored), Found(pattern, f"{shown} {name}", anchored))
        inside = {id(node) for one in ast.walk(tree) if isinstance(one, FUNCTION_NODES) for node in ast.walk(one)}
        known = {(one.pattern, one.flags) for _, one in held}
        for call in ast.walk(tree):
            if not _is_re_call(call):
                continue
            where = f"{shown}:{call.lineno}"
            pattern = _evaluated(call, vars(module) if module is not None else {})
            if pattern is None and module is not None and id(call) not in inside:
                continue  # made on import: it is among those that are held
            if pattern is None:
                unknown.append(where)
            elif (pattern.pattern, pattern.flags) not in known:
                anchored = call.func.attr in ANCHORED
                found.setdefault((pattern.pattern, pattern.flags, anchored), Found(pattern, where, anchored))
    return list(found.values()), unknown


def _imported(name: str) -> ModuleType | None:
    if name in sys.modules:
        return sys.modules[name]
    if ".children." in name:  # programs that are run by their path: importing them would start them
        return None
    return importlib.import_module(name)


def _held(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, Mapping) and depth < 4:
        for key, one in list(value.items()):
            if not (depth == 0 and str(key).startswith("__")):
                yield from _held(one, name or str(key), depth + 1)
                yield from _held(key, name, depth + 1) if depth else ()
    elif isinstance(value, (tuple, list, set, frozenset)) and depth < 4:
        for one in value:
            yield from _held(one, name, depth + 1)


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """Returns what is done with each name: methods called, "?" where it is used in another way."""
    found: dict[str, set[str]] = {}
    inside = {
        id(node.value): node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, set()).add(inside.get(id(node), "?"))
    return found


def _used_elsewhere(trees: Iterable[ast.Module]) -> dict[tuple[str, str], set[str]]:
    """Returns what is done with names where they are imported, by the module that they come from and their name."""
    found: dict[tuple[str, str], set[str]] = {}
    for tree in trees:
        methods = _methods(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    used = methods.get(alias.asname or alias.name, set())
                    found.setdefault((node.module, alias.name), set()).update(used)
    return found


def _is_re_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in FUNCTIONS
    )


def _evaluated(call: ast.Call, names: Mapping[str, Any]) -> re.Pattern[Any] | None:
    flags = next((one.value for one in call.keywords if one.arg == "flags"), None)
    place = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}.get(call.func.attr, 9)
    flags = flags or (call.args[place] if len(call.args) > place else None)
    try:
        source = _value(call.args[0], names)
        number = eval(ast.unparse(flags), {"re": re}) if flags is not None else 0  # noqa: S307 - our own source
        return re.compile(source, number)
    except (NameError, AttributeError, TypeError, ValueError, re.error):
        return None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Returns a text as code makes it; what only a running function knows is an escaped word."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_value(one, names) for one in node.values)
    if isinstance(node, ast.FormattedValue):
        try:
            return str(eval(ast.unparse(node.value), dict(names)))  # noqa: S307 - our own source
        except NameError:
            return SAMPLE
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _value(node.left, names) + _value(node.right, names)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.escape":
        return SAMPLE
    return eval(ast.unparse(node), dict(names))  # noqa: S307 - our own source
