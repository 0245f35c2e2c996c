"""Temporary names of repairs: told from everybody else's, and from those whose writer still lives.

A lock on an open file that keeps two repairs from changing it at once; it ends with the process, however it ends.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
from pathlib import Path

WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF})


_NAME = re.compile(r"\..+\.ups-doctor-fix-(\d{1,10})-[0-9a-f]{8}\.tmp", re.DOTALL)
_KEPT_BYTES = 200  # of the file's own name: a name has at most 255 bytes


def temporary_name(path: Path) -> Path:
    """Returns an unused name beside `path`, on the same file system, that `stale_temporaries` recognises."""
    own = os.fsdecode(os.fsencode(path.name)[:_KEPT_BYTES])
    return path.with_name(f".{own}.ups-doctor-fix-{os.getpid()}-{secrets.token_hex(4)}.tmp")


def stale_temporaries(folder: Path) -> list[Path]:
    """Returns the temporary files in `folder` that a repair left behind when it was killed; their writers are gone."""
    try:
        with os.scandir(folder) as entries:
            found = [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return []  # a folder that cannot be listed has nothing that could be removed
    return sorted(path for path in found if _is_stale(path))


def _is_stale(path: Path) -> bool:
    match = _NAME.fullmatch(path.name)
    if match is None or _lives(int(match[1])):
        return False
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False  # gone meanwhile, a link, or another user's
    try:
        # A writer on another machine has a process number that says nothing here, but it holds the lock.
        return lock(fd) is not False
    except OSError:
        return False
    finally:
        os.close(fd)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return pid > 0


def lock(fd: int) -> bool | None:
    """Returns whether the file is ours to change, None where its file system has no locks. OSError passes."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.EWOULDBLOCK:
            return False
        if error.errno in WITHOUT_LOCKS:
            return None
        raise
    return True
