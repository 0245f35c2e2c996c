"""Answers of earlier audits by content: the same files, rules and doctor give the same answer at once.

Kept for a whole audit and not file by file: a rule may follow a call into any other file, so that what it says about
one file holds only as long as all others stay as they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from diagnostics.audit import wire
from diagnostics.audit.files import Skipped
from diagnostics.audit.found import Audit
from diagnostics.core.own_folders import DOCTOR
from diagnostics.static.program.project_file import ProjectFile

MOST_ANSWERS = 100
MOST_BYTES = 32 << 20
OURS = ("audit", "static", "core", "agent")  # folders whose text decides what is found


def folder() -> Path:
    """Returns where answers are kept unless another folder is named."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if home.startswith("/") else Path("~/.cache").expanduser()
    return base / "ups-doctor" / "audit"


def key(files: Iterable[ProjectFile], rules: Mapping[str, ModuleType]) -> str:
    """Returns what an answer depends on, as one hash."""
    digest = hashlib.sha256(f"{sys.version} {','.join(rules)}".encode())
    for source in _sources(rules):
        digest.update(_hash(source.read_bytes()))
    for file in files:
        cells = repr(file.cells).encode()
        digest.update(f"{file.shown}\0{file.kind}\0".encode("utf-8", "surrogateescape") + cells + _hash(file.raw))
    return digest.hexdigest()


def _sources(rules: Mapping[str, ModuleType]) -> list[Path]:
    ours = {path for name in OURS for path in (DOCTOR / name).rglob("*.py")}
    return sorted(ours | {Path(file) for rule in rules.values() if (file := getattr(rule, "__file__", None))})


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def load(where: Path, name: str, files: Iterable[ProjectFile]) -> Audit | None:
    """Returns an earlier answer, None where there is none or it is damaged."""
    path = where / f"{name}.json"
    by_path = {file.shown: file for file in files}
    try:
        body = json.loads(path.read_bytes())
        answer = _answer(body, by_path)
        os.utime(path)  # the ones asked for last are kept
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return answer


def _answer(body: Any, files: Mapping[str, ProjectFile]) -> Audit:
    skipped = tuple(Skipped(path=str(path), problem=str(problem)) for path, problem in body["skipped"])
    unread = {one.path for one in skipped}
    return Audit(
        found=tuple(wire.found_from(one, files) for one in body["found"]),
        files=tuple(file for shown, file in files.items() if shown not in unread),
        skipped=skipped,
        asked={str(code): int(number) for code, number in body["asked"].items()},
        unseen=tuple(str(code) for code in body["unseen"]),
    )


def save(where: Path, name: str, answer: Audit) -> None:
    """Keeps an answer for the next time; a crash is tried again, and no place to write means no cache."""
    if answer.crashed:
        return
    body = {
        "found": [wire.found_json(one) for one in answer.found],
        "skipped": [[one.path, one.problem] for one in answer.skipped],
        "asked": dict(answer.asked),
        "unseen": list(answer.unseen),
    }
    with contextlib.suppress(OSError):
        where.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=where, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(body).encode())
            Path(temporary).replace(where / f"{name}.json")
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _forget(where)


def _forget(where: Path) -> None:
    """Removes the oldest answers beyond the number and size that are kept."""
    found = sorted(((path.stat(), path) for path in where.glob("*.json")), key=lambda one: -one[0].st_mtime)
    size = 0
    for number, (status, path) in enumerate(found):
        size += status.st_size
        if number >= MOST_ANSWERS or (size > MOST_BYTES and number):
            path.unlink(missing_ok=True)
