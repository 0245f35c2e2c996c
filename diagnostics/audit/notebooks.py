"""The code of a Jupyter notebook as one Python text: cells joined, what is IPython's own turned into comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from diagnostics.core.python_syntax import parsed
from diagnostics.static.program.project_file import FileKind, ProjectFile

LARGEST = 2 << 20  # characters of code
MAGIC = re.compile(r"\s*(?:[%!?]|[\w.]+\s*\?{1,2}\s*$|\w+\s*=\s*[%!])")
# `%%time` and its kin run the cell as Python; under `%%bash` it is something else.
PYTHON_CELLS = re.compile(r"%%(?:time|timeit|capture|prun|memit|python3?|px)\b")


def read(shown: str, raw: bytes, *, largest: int = LARGEST) -> ProjectFile:
    """Returns a notebook's code cells as one audited file; `problem` says why there are none, or too much in them."""
    try:
        cells = list(_code_cells(_loaded(raw)))
    except ValueError as error:
        return _refused(shown, raw, f"is no notebook: {' '.join(str(error).split())}")
    size = sum(len(source) + 1 for source in cells)
    if size > largest:
        return _refused(shown, raw, f"holds {size / 2**20:.1f} MiB of code, more than the {largest / 2**20:g} MiB "
                        "that are read")  # fmt: skip
    lines: list[str] = []
    starts: list[int] = []
    for source in cells:
        starts.append(len(lines) + 1)
        lines += plain(source)
    return ProjectFile(shown, raw, FileKind.PYTHON, code="\n".join(lines) + "\n" * bool(lines), cells=tuple(starts))


def _refused(shown: str, raw: bytes, problem: str) -> ProjectFile:
    file = ProjectFile(shown, raw, FileKind.OTHER, code="")
    file.problem = problem
    return file


def _loaded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _code_cells(body: Any) -> Iterator[str]:
    """Yields the source of each code cell. Raises ValueError where the file is built otherwise."""
    language = _of(_of(_of(body, "metadata"), "kernelspec"), "language") or "python"
    if not isinstance(language, str) or not language.lower().startswith("python"):
        raise ValueError(f"its language is {language}")
    sheets = _of(body, "worksheets")  # before nbformat 4
    first = sheets[0] if isinstance(sheets, list) and sheets else None
    cells = _of(body, "cells") or _of(first, "cells") or []
    if not isinstance(body, dict) or not isinstance(cells, list) or not all(isinstance(one, dict) for one in cells):
        raise ValueError("it holds no list of cells")
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            lines = source if isinstance(source, list) else [source]
            if not all(isinstance(line, str) for line in lines):
                raise ValueError("the source of a cell is no text")
            yield "".join(lines)


def _of(body: Any, name: str) -> Any:
    return body.get(name) if isinstance(body, dict) else None


def plain(source: str) -> list[str]:
    """Returns a cell's lines as Python of as many lines; a cell that is none becomes comments."""
    lines = source.replace("\r\n", "\n").split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not PYTHON_CELLS.match(first):
        return [_comment(line) for line in lines]
    if _parses(lines):
        return lines
    shown = list(_without_magics(lines))
    return shown if _parses(shown) else [_comment(line) for line in lines]


def _without_magics(lines: list[str]) -> Iterator[str]:
    goes_on = False
    for line in lines:
        magic = MAGIC.match(line) is not None
        if goes_on:
            yield _comment(line)
        elif magic:  # `pass` keeps a block whose only line it was
            yield f"{line[: len(line) - len(line.lstrip())]}pass  {_comment(line.strip())}"
        else:
            yield line
        goes_on = (goes_on or magic) and line.rstrip().endswith("\\")


def _comment(line: str) -> str:
    return f"# {line}" if line.strip() else ""


def _parses(lines: list[str]) -> bool:
    try:
        parsed("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
