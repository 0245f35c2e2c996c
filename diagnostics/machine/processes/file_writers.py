"""Who writes to a file: processes that hold it open for writing, mapped and writable, locked or leased."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

FileId = tuple[int, int]  # device and inode number
PROC = Path("/proc")
SHARED_AND_WRITABLE = ("w-s ", "wxs ")  # how the rights of such a mapping end


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
    """One process that uses a file in a way that forbids changing it."""

    pid: int  # -1: the kernel names none
    argv: tuple[str, ...]
    how: str  # "open for writing", "mapped for writing", "locked"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUses:
    """The uses of each file, and how many processes could not be looked into."""

    uses: dict[FileId, FileUse]
    unseen: int


def is_written(path: str) -> bool | None:
    """Whether any process at all has the file open for writing or mapped so; None where the kernel does not say.

    The kernel grants a read lease only on a file without writers, of other users and containers too.
    Only the file's owner (or root) may ask, and not every file system answers.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # Someone who opens the file in this very moment breaks the lease: SIGURG is ignored, SIGIO would end us.
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    finally:
        os.close(file)
    return False


def file_uses(wanted: Collection[FileId]) -> FileUses:
    """Returns who writes to the `wanted` files, this process left out; one pass over /proc whatever their number."""
    files = frozenset(wanted)
    uses: dict[FileId, FileUse] = {}
    unseen = 0
    for entry in os.scandir(PROC):
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            pid = int(entry.name)
            try:
                found = [*_opened(pid, files), *_mapped(pid, files)]
            except PermissionError:
                unseen += bool(_argv(pid))  # a kernel thread has no command line, and no files
                continue
            except OSError:  # it has ended
                continue
            for file, how in found:
                uses.setdefault(file, FileUse(pid=pid, argv=_argv(pid), how=how))
    for file, pid in _locked(files):
        if pid != os.getpid():
            uses.setdefault(file, FileUse(pid=pid, argv=_argv(pid), how="locked"))
    return FileUses(uses=uses, unseen=unseen)


def _opened(pid: int, wanted: frozenset[FileId]) -> Iterator[tuple[FileId, str]]:
    for number in os.listdir(PROC / f"{pid}/fd"):  # noqa: PTH208 - thousands of them
        try:
            status = os.stat(f"{PROC}/{pid}/fd/{number}")  # noqa: PTH116 - thousands of them
            file = (status.st_dev, status.st_ino)
            if file in wanted and _flags(f"{PROC}/{pid}/fdinfo/{number}") & os.O_ACCMODE != os.O_RDONLY:
                yield file, "open for writing"
        except PermissionError:
            raise
        except OSError:  # closed meanwhile
            continue


def _flags(path: str) -> int:
    for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8)
    return 0


def _mapped(pid: int, wanted: frozenset[FileId]) -> Iterator[tuple[FileId, str]]:
    text = (PROC / f"{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    if not any(rights in text for rights in SHARED_AND_WRITABLE):  # most processes have none
        return
    inodes = {str(inode) for _, inode in wanted}
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[1][1] == "w" and fields[1][3] == "s" and fields[4] in inodes:
            for file in _ids(fields[3], int(fields[4]), fields[5]) & wanted:
                yield file, "mapped for writing"


def _ids(device: str, inode: int, path: str) -> set[FileId]:
    """Returns both answers to which file it is: on some file systems the kernel's maps name another device."""
    major, minor = device.split(":")
    ids = {(os.makedev(int(major, 16), int(minor, 16)), inode)}
    try:
        status = os.stat(path)  # noqa: PTH116 - a string from the kernel
    except OSError:
        return ids
    return ids | {(status.st_dev, status.st_ino)}


def _locked(wanted: frozenset[FileId]) -> Iterator[tuple[FileId, int]]:
    """Yields files with an exclusive lock, or a lease: its holder wants to be told before anyone changes the file."""
    try:
        lines = (PROC / "locks").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.split()
        if "->" in fields or len(fields) < 6 or not (fields[3] == "WRITE" or fields[1] == "LEASE"):
            continue
        major, minor, inode = fields[5].split(":")
        file = (os.makedev(int(major, 16), int(minor, 16)), int(inode))
        if file in wanted:
            yield file, int(fields[4])


def _argv(pid: int) -> tuple[str, ...]:
    try:
        data = (PROC / f"{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    return tuple(word.decode("utf-8", "replace") for word in data.rstrip(b"\0").split(b"\0")) if data else ()
