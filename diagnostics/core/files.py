"""Writes files of reports and records: a folder is never used twice, a file has its name only when it is complete."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def new_folder(parent: Path, kind: str = "preflight", now: float | None = None) -> Path:
    """Makes and returns `parent/<time>-<kind>`, with a number behind it where that exists. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    number = 1
    while True:
        folder = parent / (f"{stamp}-{kind}" if number == 1 else f"{stamp}-{kind}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
            continue
        return folder


def temporary_folder(prefix: str) -> Path:
    """Makes and returns a folder that is not kept; in memory where no disk takes one. Raises OSError."""
    try:
        return Path(tempfile.mkdtemp(prefix=prefix))
    except OSError:
        return Path(tempfile.mkdtemp(prefix=prefix, dir="/dev/shm"))


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is one itself; not where that cannot be told: reading it tells why."""
    try:
        return entry.is_dir()
    except OSError:  # a link round in a circle, say
        return False


def write_whole(path: Path, text: str) -> None:
    """Writes a file that only its owner may read, and that outlives a crash of the machine. Raises OSError.

    A reader sees the old one or the new one. Links to its folder are the user's, and are followed.
    """
    write_bytes_whole(path, text.encode())


def write_bytes_whole(path: Path, content: bytes) -> None:
    """As `write_whole`, of what is no text. Raises OSError."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _write(folder, path.name, content, keep=True)
    finally:
        os.close(folder)


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner may read, whole or not at all, and never through a link. Raises OSError.

    For folders that the job can reach: what a link in the place of one leads to is somebody's. A link in the file's
    own place is replaced.
    """
    folder = _open_folder(path.parent)
    try:
        _write(folder, path.name, text.encode(errors="replace"), keep=False)
    finally:
        os.close(folder)


def _write(folder: int, name: str, content: bytes, *, keep: bool) -> None:
    """Writes a file of an open folder; `keep` waits until the disk has it."""
    part = f".{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            if keep:
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):  # it was not made, or the folder was removed
            os.unlink(part, dir_fd=folder)
        raise


def _open_folder(folder: Path) -> int:
    """Returns a descriptor of a folder, come to without following a link."""
    absolute = folder.absolute()
    fd = os.open(absolute.anchor, _FOLDER)
    for name in absolute.parts[1:]:
        above = fd
        try:
            fd = os.open(name, _FOLDER, dir_fd=above)
        except NotADirectoryError as error:
            if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, "a link has taken the place of a folder", str(folder)) from error
            raise
        finally:
            os.close(above)
    return fd
