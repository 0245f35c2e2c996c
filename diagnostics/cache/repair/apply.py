"""Makes a patch so: appended behind the file's old end, or as one copy that takes the file's name when it is whole.

At every instant the file's name leads to the old content or to the new one, whole: a kill, a full disk or a
second writer loses nothing. What is written is read back before the old content is given up.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from diagnostics.cache.file_bytes import DamagedFileError
from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.patch import Patch
from diagnostics.cache.repair.actions import Identity
from diagnostics.cache.repair.copies import keep_attributes
from diagnostics.cache.repair.copying import write_pieces
from diagnostics.cache.repair.hard_links import forget, linked, renamed
from diagnostics.cache.repair.temporaries import lock, stale_temporaries, temporary_name
from diagnostics.cache.repair.verify import content, difference
from diagnostics.cache.scan.one_file import CacheFormat
from diagnostics.core.errors import DoctorError, from_os_error

__all__ = ["Applied", "apply", "stale_temporaries"]

END_RECORD_BYTES = 22
# This user may not write into the file, or nobody may: a copy needs only the folder.
NOT_INTO = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """How the file was made right. `notes` say what could not be kept, in words for people."""

    way: Literal["append", "copy"]
    written: int  # bytes
    notes: tuple[str, ...] = ()


class _AppendRefusedError(Exception):
    """The file cannot be appended to; nothing was changed."""


def apply(path: Path, patch: Patch, *, expected: Identity | None = None, also: Sequence[str] = ()) -> Applied:
    """Makes the file at `path` (a link's target) what the patch says, and returns how.

    `expected` is the file the patch was made for: another one is refused. `also` are other names of the file (hard
    links) that become the repaired one, too. Raises DoctorError; the file then is what it was.
    """
    real = Path(os.path.realpath(path))
    try:
        if patch.tail:
            try:
                return _append(real, patch, expected)
            except _AppendRefusedError:
                pass  # the copy below needs only the folder
        return _copy(real, patch, expected, also)
    except OSError as error:
        raise from_os_error(error, action="cannot repair", path=real) from error
    except DamagedFileError as error:
        raise DoctorError(f"cannot repair {real}: {error}", hint="scan it again: ups-doctor scan-cache") from error


def _append(path: Path, patch: Patch, expected: Identity | None) -> Applied:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in NOT_INTO:
            raise _AppendRefusedError from error
        raise
    with _closed(fd):
        if not _locked(fd, path):
            raise _AppendRefusedError
        status = _unchanged(fd, path, expected)
        if status.st_nlink > 1:
            raise _AppendRefusedError  # the file's other names would change, too
        notes = _append_open(fd, path, patch.tail, status)
    return Applied(way="append", written=len(patch.tail), notes=notes)


@contextmanager
def _closed(fd: int) -> Iterator[None]:
    try:
        yield
    finally:
        # Whatever was written is synced by then: an error of close says nothing new.
        with suppress(OSError):
            os.close(fd)


def _locked(fd: int, path: Path) -> bool:
    locked = lock(fd)
    if locked is False:
        raise DoctorError(f"{path}: another repair is at work on it", hint="let it end, then run the command again")
    return locked is True


def _unchanged(fd: int, path: Path, expected: Identity | None) -> os.stat_result:
    status = os.fstat(fd)
    other = expected is not None and Identity.of(status) != expected
    if other or not os.path.samestat(status, path.lstat()):
        raise DoctorError(
            f"{path}: somebody changed it since it was scanned",
            hint="end the program that writes to it, then run the command again",
        )
    return status


def _append_open(fd: int, path: Path, tail: bytes, status: os.stat_result) -> tuple[str, ...]:
    old = content(str(path))
    size = status.st_size
    try:
        # Two syncs: a disk may keep the end record and lose what it points to, if both are written at once.
        _write_at(fd, tail[:-END_RECORD_BYTES], size)
        os.fsync(fd)
        _write_at(fd, tail[-END_RECORD_BYTES:], size + len(tail) - END_RECORD_BYTES)
        _verify(old, path)
        notes = _keep_times(fd, status)
        os.fsync(fd)
        return notes
    except BaseException:
        _take_back(fd, status)
        raise


def _write_at(fd: int, data: bytes, offset: int) -> None:
    written = 0
    while written < len(data):
        written += os.pwrite(fd, data[written:], offset + written)


def _take_back(fd: int, status: os.stat_result) -> None:
    os.ftruncate(fd, status.st_size)
    _keep_times(fd, status)


def _keep_times(fd: int, status: os.stat_result) -> tuple[str, ...]:
    try:
        os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))
    except PermissionError:  # who may write into a file of somebody else may not set its times
        return ("the time of its last change is that of the repair: it belongs to somebody else",)
    return ()


def _verify(old: tuple[FileScan, CacheFormat], new: Path) -> None:
    scan, plugin = old
    wrong = difference(scan, content(str(new), like=(scan.path, plugin))[0])
    if wrong:
        raise DoctorError(
            f"{scan.path}: the repair was taken back, the file is as it was: {wrong}",
            hint="load it with map_location='cpu' and save it again",
        )


def _copy(path: Path, patch: Patch, expected: Identity | None, also: Sequence[str]) -> Applied:
    source = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with _closed(source):
        _locked(source, path)
        status = _unchanged(source, path, expected)
        temporary = temporary_name(path)
        others: list[tuple[Path, str]] = []
        try:
            notes, written = _write_copy(source, path, patch, temporary, status)
            others, kept = linked(temporary, also)
            _unchanged(source, path, Identity.of(status))
            temporary.replace(path)
        except BaseException:
            forget(others)
            with suppress(OSError):  # the error that led here says more; a later run removes it
                temporary.unlink(missing_ok=True)
            raise
        notes = (*notes, *kept, *renamed(others, status))
    folders = dict.fromkeys([path.parent, *(Path(name).parent for name in also)])
    return Applied(
        way="copy", written=written, notes=(*notes, *(note for one in folders for note in _sync_folder(one)))
    )


def _write_copy(
    source: int, path: Path, patch: Patch, temporary: Path, status: os.stat_result
) -> tuple[tuple[str, ...], int]:
    old = content(str(path))
    target = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with _closed(target):
        lock(target)  # tells later repairs that this temporary file has an owner
        written = write_pieces(source, patch.pieces, target)
        _verify(old, temporary)
        notes = keep_attributes(source, target, status)
        os.fsync(target)
    return notes, written


def _sync_folder(folder: Path) -> tuple[str, ...]:
    # The new name is in place: what goes wrong from here on costs no content.
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with _closed(fd):
            os.fsync(fd)
    except OSError as error:
        # EINVAL: a file system that syncs no folders.
        return () if error.errno == errno.EINVAL else (f"its folder was not synced: {error.strerror}",)
    return ()
