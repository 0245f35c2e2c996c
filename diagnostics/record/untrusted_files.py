"""Reads the files of a record as untrusted bytes: no link is followed, nothing is unpickled, sizes are bounded."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.line_clipping import after_cut, before_cut, clipped_lines
from diagnostics.record import supervisor_facts
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.supervisor_facts import SupervisorFacts

MAX_FILE_BYTES = 64 << 20  # an agent's file has less than 1 MiB
MAX_TEXT_BYTES = 4 << 20  # of output: the first and the last half
MAX_FILES = 20_000


def read_bytes(path: Path) -> bytes:
    """Returns a regular file's bytes. Raises AgentFileError with the reason, OSError where it cannot be read."""
    fd, facts = _open(path)
    with os.fdopen(fd, "rb") as file:
        if facts.st_size > MAX_FILE_BYTES:
            raise AgentFileError(f"{facts.st_size} bytes, the limit is {MAX_FILE_BYTES}")
        return file.read(MAX_FILE_BYTES)


def read_text(path: Path) -> str:
    """Returns a text, of a long one its head and its tail. Raises AgentFileError, OSError."""
    fd, facts = _open(path)
    with os.fdopen(fd, "rb") as file:
        if facts.st_size <= MAX_TEXT_BYTES:
            return file.read(MAX_TEXT_BYTES).decode("utf-8", "replace")
        head = file.read(MAX_TEXT_BYTES // 2)
        file.seek(facts.st_size - MAX_TEXT_BYTES // 2)
        tail = file.read(MAX_TEXT_BYTES // 2)
    left_out = facts.st_size - MAX_TEXT_BYTES
    first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
    return f"{before_cut(first)}\n... {left_out} bytes left out ...\n{after_cut(last)}"


def read_json(path: Path) -> Any:
    """Returns the value in a JSON file; numbers beyond all reason are null.

    Raises ValueError where it is no JSON, AgentFileError and OSError where it cannot be read.
    """
    return untrusted_json.loads(read_bytes(path))


def read_job(path: Path) -> tuple[SupervisorFacts | None, str]:
    """Returns what job.json says and "", or None and why it cannot be used; None and "" where there is no file."""
    try:
        return supervisor_facts.from_json(read_json(path)), ""
    except FileNotFoundError:
        return None, ""
    except (AgentFileError, OSError, ValueError) as error:
        return None, str(error)


def read_output(path: Path) -> str:
    """Returns what programs wrote, as `read_text` does, in lines of bounded length. Raises AgentFileError, OSError."""
    return clipped_lines(read_text(path))


def names_in(folder: Path) -> tuple[str, ...]:
    """Returns the names of the files in a folder, sorted; () where it is no folder or a link."""
    if folder.is_symlink():
        return ()
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except OSError:
        return ()
    return tuple(names[:MAX_FILES])


def _open(path: Path) -> tuple[int, os.stat_result]:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode):  # a folder cannot be made a file object, even
        os.close(fd)
        raise AgentFileError("not a regular file")
    return fd, facts
