"""Paths as a shell takes them back: also with spaces, and where the terminal's encoding lacks their characters."""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path

_PLAIN = re.compile(r"[\w@%+=:,./~-]+")


def pasteable(path: str | os.PathLike[str], encoding: str | None = None) -> str:
    """Returns `path` as one word of a shell; characters that `encoding` (that of stderr) lacks become their bytes."""
    text = os.fspath(path)
    if _shows(text, encoding or getattr(sys.stderr, "encoding", None) or "ascii"):
        return text if _PLAIN.fullmatch(text) and not text.startswith(("-", "~")) else shlex.quote(text)
    return "$'" + "".join(map(_escaped, os.fsencode(text))) + "'"


def pasteable_here(path: Path) -> str:
    """Returns `path` as one word of a shell, relative to the current folder where it lies below it."""
    with suppress(ValueError, OSError):  # it lies elsewhere, or the current folder is gone
        return pasteable(path.relative_to(Path.cwd()))
    return pasteable(path)


def _shows(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return text.isprintable()


def _escaped(byte: int) -> str:
    if byte in b"'\\":
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
