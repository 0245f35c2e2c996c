"""`[tool.ups-doctor.audit]` of the nearest pyproject.toml: which rules, which files, which rules not in which files."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from diagnostics.audit import selection
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.spelling import nearest

KEYS = ("select", "ignore", "exclude", "per-file-ignores")
TABLE = "tool.ups-doctor.audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What a project says; globs are relative to `folder`, where its pyproject.toml lies."""

    folder: str = ""
    select: tuple[str, ...] = selection.ALL
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def excluded(self, path: str) -> bool:
        """Returns whether a file found in a folder is left out."""
        return any(self._fits(glob, path) for glob in self.exclude)

    def ignored_in(self, path: str, code: str, name: str) -> bool:
        """Returns whether a rule is not shown in this file."""
        return any(
            selection.fits(word, code, name)
            for glob, words in self.per_file_ignores.items()
            if self._fits(glob, path)
            for word in words
        )

    def _fits(self, glob: str, path: str) -> bool:
        """Whether a glob means the path, a folder above it, or without "/" any part of it."""
        below = PurePath(os.path.relpath(path, self.folder or ".")).as_posix()
        wanted = glob.removeprefix("./").rstrip("/")
        parts = below.split("/")
        if "/" not in wanted and any(fnmatchcase(part, wanted) for part in parts):
            return True
        return any(fnmatchcase("/".join(parts[:length]), wanted) for length in range(1, len(parts) + 1))


def load(path: Path, rules: Mapping[str, ModuleType]) -> AuditSettings:
    """Returns the settings that hold for `path`: of the nearest pyproject.toml with our table, else the defaults."""
    start = Path(os.path.realpath(path))
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            text, table = _table(file)
            if table is not None:
                return _settings(file, text, table, rules)
    return AuditSettings()


def _table(file: Path) -> tuple[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
        body: Any = tomllib.loads(text)
    except OSError as error:
        refused = from_os_error(error, action="cannot read the settings", path=file)
        raise UsageError(refused.message, hint=refused.hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{_shown(file)} is not valid TOML: {error}") from error
    for key in TABLE.split("."):
        if body is not None and not isinstance(body, dict):
            raise UsageError(f"{_shown(file)}: {TABLE} must be a table of keys, but its part above is {body!r}")
        body = body.get(key) if body is not None else None
    return text, body


def _settings(file: Path, text: str, table: Any, rules: Mapping[str, ModuleType]) -> AuditSettings:
    at = _Places(file, text)
    if not isinstance(table, dict):
        raise UsageError(f"{at('audit')}: {TABLE} must be a table of keys, got {table!r}")
    for key in table:
        if key not in KEYS:
            hint = nearest(key, KEYS) or f"; known here: {', '.join(KEYS)}"
            raise UsageError(f"{at(key)}: unknown key '{key}' in [{TABLE}]{hint}")
    lists = {key: _texts(table[key], key, at) for key in KEYS[:3] if key in table}
    for key in ("select", "ignore"):
        selection.split(lists.get(key, ()), rules, where=f"{at(key)}: {key}")
    return AuditSettings(
        folder=str(file.parent),
        select=lists.get("select", selection.ALL),
        ignore=lists.get("ignore", ()),
        exclude=lists.get("exclude", ()),
        per_file_ignores=dict(_per_file(table.get("per-file-ignores", {}), rules, at)),
    )


def _per_file(table: Any, rules: Mapping[str, ModuleType], at: _Places) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not isinstance(table, dict):
        raise UsageError(f"{at('per-file-ignores')}: per-file-ignores takes globs with lists of codes, got {table!r}")
    for glob, codes in table.items():
        words = _texts(codes, glob, at)
        selection.split(words, rules, where=f"{at(glob)}: per-file-ignores")
        yield glob, words


def _texts(value: Any, key: str, at: _Places) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{at(key)}: {key} must be a list of texts, got {value!r}")
    return tuple(value)


@dataclass(frozen=True, slots=True)
class _Places:
    """Says where a key stands: tomllib does not."""

    file: Path
    text: str

    def __call__(self, key: str) -> str:
        lines = self.text.splitlines()
        table = next((at for at, line in enumerate(lines) if TABLE in line.replace('"', "").replace(" ", "")), 0)
        wanted = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*=|^\s*\[.*{re.escape(key)}["']?\s*\]""")
        found = (at for at, line in enumerate(lines) if at >= table and wanted.match(line))
        return f"{_shown(self.file)}:{next(found, table) + 1}"


def _shown(file: Path) -> str:
    here = Path(os.path.realpath("."))
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
