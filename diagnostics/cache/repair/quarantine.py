"""Moves a useless file away with a note that says from where, why, when, and how to move it back."""

from __future__ import annotations

import errno
import os
import shlex
import threading
import time
from pathlib import Path

from diagnostics.cache.repair.actions import FilePlan
from diagnostics.cache.repair.copies import copy_whole, rename_to_free_name, same_bytes, sync_folder
from diagnostics.cache.scan.files import QUARANTINE_NOTE
from diagnostics.core import redaction

HEAD = """# Cache files that `ups-doctor fix-cache` moved here

No loader can use them as they are. Nothing was deleted: once new files are made, this folder may go.
Below stands each file: when it was moved, from where, what was wrong with it, and the command that moves it back.
"""
_lock = threading.Lock()


def move(plan: FilePlan) -> int:
    """Moves the file to its target and returns the bytes written; nothing is overwritten.

    Raises OSError, and FileExistsError where a file of that name was moved there before.
    """
    home, source, target = Path(plan.home), Path(plan.path), Path(plan.target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "a file of that name was moved there before", str(target))
    _note(home, _entry(plan))  # first: a file that was moved without a word would be lost
    try:
        return _move(source, target)
    except OSError as error:
        _note(home, f"- {_now()} {_code(plan.path)} stays where it is: {error.strerror or error}\n")
        raise


def _move(source: Path, target: Path) -> int:
    try:
        rename_to_free_name(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        written = copy_whole(source, target)
        if not same_bytes(source, target):
            target.unlink()
            raise OSError(errno.EIO, "the copy differs from the file", str(target)) from error
        source.unlink()
        return written
    sync_folder(target.parent)
    return 0


def _entry(plan: FilePlan) -> str:
    back = shlex.join(["mv", "-n", "--", plan.target, plan.path])
    return f"- {_now()} {_code(plan.path)}: {redaction.line(plan.why)}\n\n  back: {_code(back)}\n"


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def _code(text: str) -> str:
    shown = redaction.line(text)
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _note(home: Path, entry: str) -> None:
    with _lock:
        descriptor = os.open(home / QUARANTINE_NOTE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            head = HEAD if not os.fstat(descriptor).st_size else ""
            os.write(descriptor, f"{head}\n{entry}".encode("utf-8", "backslashreplace"))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
