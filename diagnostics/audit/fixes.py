"""The edits of hits put into their files: shown as a diff, and written only where a file is still what was read."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import tempfile
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from diagnostics.audit.found import Found
from diagnostics.audit.rule import Edit
from diagnostics.core import redaction
from diagnostics.core.errors import DoctorError, from_os_error
from diagnostics.core.python_syntax import parsed
from diagnostics.static.program.project_file import FileKind, ProjectFile

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file before and after; `codes` are the rules whose edits it takes, `left` those that did not fit."""

    file: ProjectFile
    before: str
    after: str
    encoding: str
    codes: tuple[str, ...]
    left: tuple[str, ...] = ()

    def diff(self) -> Iterator[str]:
        """Yields a unified diff, line by line."""
        for line in difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), self.file.shown, self.file.shown, lineterm=""
        ):
            yield redaction.line(line)


def changes(found: Iterable[Found]) -> Iterator[FileChange]:
    """Yields the change of each file in which something can be repaired; a notebook is not edited."""
    editable = (one for one in found if one.hit.edits and not one.hit.file.cells)
    known: set[str] = set()  # a file that was read under two names, by a link, is changed once
    for shown, several in groupby(
        sorted(editable, key=lambda one: one.hit.file.shown), key=lambda one: one.hit.file.shown
    ):
        real = os.path.realpath(shown)
        change = _change(list(several)) if real not in known else None
        known.add(real)
        if change is not None:
            yield change


def _change(found: list[Found]) -> FileChange | None:
    file = found[0].hit.file
    source = _source(file)
    if source is None:
        return None
    before, encoding = source
    text = _Text(before)
    taken: list[Found] = []
    edits: dict[tuple[int, int, str], None] = {}
    for one in found:
        spans = text.spans(one.hit.edits)
        whole = {**edits, **dict.fromkeys(spans)} if spans is not None else {}
        if whole and _apart(list(whole)) and _still_parses(file, text.edited(list(whole))):
            edits = whole
            taken.append(one)
    after = text.edited(list(edits))
    left = tuple(one.code for one in found if one not in taken)
    codes = tuple(one.code for one in taken)
    return (
        FileChange(file=file, before=before, after=after, encoding=encoding, codes=codes, left=left) if edits else None
    )


def _source(file: ProjectFile) -> tuple[str, str] | None:
    """Returns the whole text with its own line ends, and how it is encoded; None where writing would change bytes."""
    try:
        encoding = (
            tokenize.detect_encoding(io.BytesIO(file.raw).readline)[0] if file.kind is FileKind.PYTHON else "utf-8"
        )
        text = file.raw.decode(encoding)
        return (text, encoding) if text.encode(encoding) == file.raw else None
    except (SyntaxError, UnicodeError, LookupError):
        return None


class _Text:
    """A text whose places are lines and bytes of them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _LINE.findall(text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.end_of_line = "\r\n" if "\r\n" in text else "\n"

    def spans(self, edits: tuple[Edit, ...]) -> list[tuple[int, int, str]] | None:
        """Returns edits as (from, to, text) in characters, None where one is outside of the text."""
        found = []
        for edit in edits:
            start, end = self._at(edit.start), self._at(edit.end)
            if start is None or end is None or start > end:
                return None
            found.append((start, end, edit.text.replace("\n", self.end_of_line)))
        return found

    def _at(self, place: tuple[int, int]) -> int | None:
        line, column = place
        if line == len(self.lines) + 1 and not column:
            return len(self.text)
        if not 0 < line <= len(self.lines):
            return None
        before = self.lines[line - 1].encode()[:column]
        return self.starts[line - 1] + len(before.decode("utf-8", "ignore"))

    def edited(self, spans: list[tuple[int, int, str]]) -> str:
        """Returns the text with all edits in it."""
        text = self.text
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def _apart(spans: list[tuple[int, int, str]]) -> bool:
    """Whether no edit touches another: two insertions at one place would have no order."""
    ordered = sorted(spans)
    return all(one[1] <= two[0] and one[:2] != two[:2] for one, two in pairwise(ordered))


def _still_parses(file: ProjectFile, text: str) -> bool:
    if file.kind is not FileKind.PYTHON:
        return True
    try:
        parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def write(change: FileChange, path: Path) -> None:
    """Puts the changed file in place of the old one in one step, with its mode.

    Raises DoctorError where it is no longer what was read, or cannot be written.
    """
    real = Path(os.path.realpath(path))  # a link stays a link
    temporary = ""
    try:
        status = real.stat()
        if status.st_nlink > 1:
            raise DoctorError(
                f"{path} has {status.st_nlink} names (hard links), which a new file would part: nothing written to it",
                hint="edit it by hand, as --diff shows: all its names change then",
            )
        handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-")
        with os.fdopen(handle, "wb") as file:
            file.write(change.after.encode(change.encoding))
            with contextlib.suppress(PermissionError):  # somebody else's file in a folder of one's own
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(file.fileno(), status.st_mode & 0o7777)
        if real.read_bytes() != change.file.raw:
            raise DoctorError(f"{path} has changed since it was read: nothing written to it", hint="run it again")
        Path(temporary).replace(real)
    except OSError as error:
        raise from_os_error(error, action="cannot write", path=path) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
