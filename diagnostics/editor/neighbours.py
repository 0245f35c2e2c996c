"""Which files are audited with an open one: those beside it and what they import; bounded, since somebody types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from diagnostics.audit.files import kind_of
from diagnostics.core.python_syntax import parsed
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project_file import FileKind

MOST_BESIDE = 40
MOST_IMPORTED = 40
LARGEST = 1 << 20


def neighbours(path: Path, root: Path) -> tuple[Path, ...]:
    """Returns a file first, then those of its folder and what they import below `root`."""
    found = dict.fromkeys([path])
    found.update(dict.fromkeys(_beside(path)))
    waiting = list(found)
    imported = 0
    while waiting and imported < MOST_IMPORTED:
        for one in _imported(waiting.pop(0), root):
            if one not in found and imported < MOST_IMPORTED:
                found[one] = None
                waiting.append(one)
                imported += 1
    return tuple(found)


def _beside(path: Path) -> list[Path]:
    try:
        several = sorted(one for one in path.parent.iterdir() if one != path and one.is_file())
        return [one for one in several if kind_of(one) is not None][:MOST_BESIDE]
    except OSError:
        return []


def _imported(path: Path, root: Path) -> Iterator[Path]:
    """Yields the files that a Python file imports, looked for beside it and in the folders up to `root`."""
    try:
        if kind_of(path) is not FileKind.PYTHON or path.stat().st_size > LARGEST:
            return
        tree = parsed(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    inside = root in path.parents
    homes = [one for one in path.parents if one == root or root in one.parents] if inside else [path.parent]
    for name in _modules(tree):
        for home in homes:
            base = home.joinpath(*name.split("."))
            candidates = (base.with_suffix(".py"), base / "__init__.py") if name else ()
            target = next((one for one in candidates if one.is_file()), None)
            if target is not None:
                yield target
                break


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{one.name}" if node.module else one.name for one in node.names)
