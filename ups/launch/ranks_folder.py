"""The folder in which ranks report to their launcher: gone with the launcher, however it ends.

Who launches holds a lock of the kernel's on it, and a small program removes the folder after its end, also after
kill -9 (`ups.leftovers`). Where that program was killed, too, the next launch removes every folder of this user that
nobody has locked.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ups.leftovers.removal import Removal

PREFIX = "ups-ranks-"


@contextmanager
def ranks_folder() -> Iterator[Path]:
    """Makes the folder, and removes it at the end. Raises OSError where there is no place for one."""
    sweep()
    folder, lock = _locked()
    removal = Removal(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
        removal.close()


def sweep() -> list[Path]:
    """Removes the folders whose launchers have died; returns them."""
    removed = []
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = _open(folder)
        except OSError:  # a link, a file, or another user's
            continue
        try:
            if os.fstat(lock).st_uid == os.getuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
        except OSError:  # its launcher lives
            continue
        finally:
            os.close(lock)
    return removed


def _locked() -> tuple[Path, int]:
    """Returns a new folder and its lock; another launch may sweep a folder away before it is locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            lock = _open(folder)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir() and os.path.samestat(os.fstat(lock), folder.stat()):
            return folder, lock
        os.close(lock)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
