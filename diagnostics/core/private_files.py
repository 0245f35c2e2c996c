"""Writes files that only their owner may read: whole or not at all, and never through a link.

The folders of a record lie where the job can reach them. One that a link has taken the place of is not written
through: what the link leads to is somebody's.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def write(path: Path, text: str) -> None:
    """Writes `path`, whose folder holds no link; one in the file's own place is replaced. Raises OSError."""
    folder = _open_folder(path.parent)
    part = f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):  # the folder was removed
                os.unlink(part, dir_fd=folder)
            raise
    finally:
        os.close(folder)


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
