"""Whole copies: written under a temporary name, synced, and only then given a name that nobody had.

What a copy keeps of the file it replaces besides its content: owner, permissions, extended attributes, times.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from diagnostics.cache.patch import ByteRange
from diagnostics.cache.repair.copying import write_pieces
from diagnostics.cache.repair.temporaries import lock, temporary_name

CHUNK_BYTES = 1 << 20
NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def copy_whole(source: Path, target: Path, pieces: Sequence[ByteRange | bytes] = (), *, over: bool = False) -> int:
    """Copies a file, or its `pieces`, to `target`, with its times and permissions; returns the bytes written.

    Without `over`, raises FileExistsError where the name is taken; OSError leaves nothing behind.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = temporary_name(target)
    try:
        written = _write(source, part, pieces)
        if over:
            part.replace(target)
        else:
            rename_to_free_name(part, target)
    finally:
        part.unlink(missing_ok=True)
    sync_folder(target.parent)
    return written


def _write(source: Path, part: Path, pieces: Sequence[ByteRange | bytes]) -> int:
    with source.open("rb", buffering=0) as old, part.open("xb", buffering=0) as new:
        lock(new.fileno())  # tells later repairs that this temporary file has an owner
        status = os.fstat(old.fileno())
        written = write_pieces(old.fileno(), pieces or (ByteRange(0, status.st_size),), new.fileno())
        keep_attributes(old.fileno(), new.fileno(), status)
        os.fsync(new.fileno())
    return written


def rename_to_free_name(source: Path, target: Path) -> None:
    """Renames within one file system. Raises FileExistsError where the name is taken: rename would overwrite it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # No hard links on this file system: the name is taken by an empty file first.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        _or_without(target, lambda: source.replace(target))
    else:
        _or_without(target, source.unlink)


def _or_without(target: Path, last_step: Callable[[], object]) -> None:
    """Does the last step of a move; where it fails, the file stays where it was and has no second name."""
    try:
        last_step()
    except OSError:
        with suppress(OSError):  # the error that led here says more
            target.unlink()
        raise


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files hold the same, read to their ends."""
    with one.open("rb", buffering=0) as first, other.open("rb", buffering=0) as second:
        while True:
            data = first.read(CHUNK_BYTES)
            if data != second.read(CHUNK_BYTES):
                return False
            if not data:
                return True


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder last through a power cut."""
    with suppress(OSError):  # some network file systems sync no folder
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def keep_attributes(source: int, target: int, status: os.stat_result) -> tuple[str, ...]:
    """Gives the target the source's attributes; returns what could not be kept, in words for people."""
    owner = _keep_owner(target, status)
    notes = [*owner, *_keep_extended(source, target)]
    # After the owner: a change of owner clears bits. Rights of another owner are not handed to this one.
    os.fchmod(target, status.st_mode & (0o777 if owner else 0o7777))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return tuple(notes)


def _keep_owner(target: int, status: os.stat_result) -> list[str]:
    now = os.fstat(target)
    if (now.st_uid, now.st_gid) == (status.st_uid, status.st_gid):
        return []
    try:
        os.fchown(target, status.st_uid, status.st_gid)
    except PermissionError:
        try:
            os.fchown(target, -1, status.st_gid)
        except PermissionError:
            return [f"its owner was {status.st_uid}:{status.st_gid}, it is {now.st_uid}:{now.st_gid}"]
        return [f"its owner was user {status.st_uid}, it is user {now.st_uid}"]
    return []


def _keep_extended(source: int, target: int) -> list[str]:
    lost: list[str] = []
    try:
        names = os.listxattr(source)
    except OSError:
        return []  # the file system has none
    for name in names:
        try:
            os.setxattr(target, name, os.getxattr(source, name))
        except OSError:
            lost.append(name)
    return [f"its attributes {', '.join(lost)} could not be kept"] if lost else []
