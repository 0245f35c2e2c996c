"""Errors that end a command with one clear sentence: what was seen, what it means, what helps.

Each carries its exit code and a hint; `cli` holds the only place that catches them.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

USAGE_EXIT = 2
FAILED_EXIT = 1


class DoctorError(Exception):
    """Something the user can act on. `message` names the culprit, `hint` is the remedy."""

    exit_code = FAILED_EXIT

    def __init__(self, message: str, *, hint: str = "", exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code


class UsageError(DoctorError):
    """A wrong option, code, path or configuration: nothing was started."""

    exit_code = USAGE_EXIT


_MEANINGS = {
    errno.ENOSPC: ("the disk is full", "free some space (df -h {path}) and run the command again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and run the command again"),
    errno.EACCES: ("permission denied", "check who owns it: namei -l {path}"),
    errno.EPERM: ("permission denied", "check who owns it: namei -l {path}"),
    errno.EROFS: ("the file system is read-only", "choose a folder on another disk"),
    errno.ENOENT: ("no such file or folder", "check the spelling: ls -l {parent}"),
    errno.EEXIST: ("it exists already", "choose another name, or move it away"),
    errno.ENOTDIR: ("a part of the path is not a folder", "check the path: ls -ld {parent}"),
    errno.EISDIR: ("it is a folder, a file was expected", "name a file inside it"),
    errno.ELOOP: ("its symbolic links lead in a circle", "follow them: namei -l {path}"),
    errno.EMFILE: ("too many open files", "raise the limit: ulimit -n 65536"),
}


def from_os_error(error: OSError, *, action: str, path: str | os.PathLike[str] | None = None) -> DoctorError:
    """Returns the one-sentence form of an OSError; `action` reads like 'cannot write the report'."""
    named = os.fspath(path) if path is not None else error.filename or ""
    shown = os.fsdecode(named) if isinstance(named, bytes) else str(named)
    meaning, hint = _MEANINGS.get(error.errno or 0, (error.strerror or str(error), ""))
    told = hint.format(path=shown or ".", parent=Path(shown or ".").parent)
    return DoctorError(f"{action} {shown}: {meaning}" if shown else f"{action}: {meaning}", hint=told)
