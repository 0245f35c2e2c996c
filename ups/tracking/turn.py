"""Who feeds the trackers of a run: one process at a time, by a lock of the kernel's that goes with it."""

from __future__ import annotations

import fcntl
import os

from ups.errors import from_os_error
from ups.run_folder import RunFolder

NAME = "lock"


def took_turn(folder: RunFolder) -> bool:
    """Whether this process may feed the trackers now, until it ends; another one may be at it.

    Raises DoctorError where the run's folder cannot be written.
    """
    path = folder.tracking / NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise from_os_error(error, action="cannot write into the run", path=path.parent) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    except OSError:
        return True  # a file system without locks: as if nobody else were there
    return True
