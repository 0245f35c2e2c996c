"""A copy of the latent cache on a RAM disk: made once on each machine, shared by its ranks, gone with the last.

Layout: <ram disk>/ups-latents-<uid>/<key>/, where the key stands for the manifest and for sizes and times of the
files: an equal cache is used as it is, a changed one never. Two locks, both on folders and both the kernel's, so
that a process which dies, even by kill -9, lets go of them at that moment:

    ups-latents-<uid>   exclusive while a copy is made, counted or removed
    <key>               shared by each process that reads; who gets it exclusively knows that nobody does

Process ids would not do: several containers may share one /dev/shm, and each has its own process 7.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from diagnostics.api import free_space
from ups.data.cache_folder import is_ours, remove
from ups.errors import UpsError, from_os_error
from ups.leftovers.removal import remove_unread

AUTO = "auto"
DEFAULT = Path("/dev/shm")  # noqa: S108 - a folder of this user's, with mode 0700, is made in it
SPARE_BYTES = 64 << 20
TOLD_EVERY_S = 10.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RamCopy:
    """A folder to read from; `lock` is held until `close`, -1 where nothing was copied, and `note` may say why."""

    folder: Path
    lock: int = -1
    note: str = ""

    def close(self) -> None:
        """Lets go of the copy, and removes it where no other process reads it."""
        if self.lock < 0:
            return
        os.close(self.lock)
        clean(self.folder.parent.parent)

    def outlived(self) -> None:
        """Has the copy removed also where all that read it are killed; one process of a machine asks for that."""
        if self.lock >= 0:
            remove_unread(self.folder, self.folder.parent.parent)


def attach(cache: Path, ram_disk: str | None, say: Say, *, spare_bytes: int = SPARE_BYTES) -> RamCopy:
    """Returns a copy of `cache` to read from, made now unless another process has made it.

    `ram_disk` is a folder, which must have the room (UpsError says both numbers where it has not), "auto" for
    /dev/shm where it has the room and the cache itself where not, or None for the cache itself. Only the
    process that copies says anything; the others wait for its lock.
    """
    place = place_of(ram_disk)
    if place is None:
        return RamCopy(cache)
    try:
        return _attach(cache, place, say, spare_bytes)
    except UpsError as error:
        if ram_disk != AUTO:
            raise
        return RamCopy(cache, note=f"{error.message}: the latent cache is read from {cache}")


def place_of(ram_disk: str | None) -> Path | None:
    """Returns the folder that a configuration's `cache.ram_disk` means."""
    return DEFAULT if ram_disk == AUTO else Path(ram_disk) if ram_disk is not None else None


def clean(ram_disk: Path) -> list[Path]:
    """Removes the copies on `ram_disk` that no process uses, those of killed runs too; returns them."""
    root = _root(ram_disk)
    if not root.is_dir():
        return []
    with _alone(root):
        return _sweep(root)


def _attach(cache: Path, place: Path, say: Say, spare_bytes: int) -> RamCopy:
    try:
        place.mkdir(parents=True, exist_ok=True)
        if cache.stat().st_dev == place.stat().st_dev:
            return RamCopy(cache)  # it lies there already
        sizes = {path.name: path.stat() for path in sorted(cache.iterdir()) if is_ours(path.name)}
        root = _root(place)
        with _alone(root):
            copy = root / _key(cache, sizes)
            for stale in _sweep(root, keep=copy.name):
                say(f"removed {stale}, left by a run that died")
            if not _complete(copy, sizes):
                remove(copy)
                _make(cache, copy, sizes, say, spare_bytes)
            return RamCopy(copy, _shared(copy))
    except OSError as error:
        told = from_os_error(error, action="cannot copy the latent cache to", path=place)
        raise UpsError(told.message, hint=told.hint or "set cache.ram_disk=null") from error


def _root(place: Path) -> Path:
    return place / f"ups-latents-{os.getuid()}"


def _key(cache: Path, sizes: dict[str, os.stat_result]) -> str:
    """Returns a name for this content: a copy of a cache that was repaired or built again is not reused."""
    files = sorted((name, one.st_size, one.st_mtime_ns) for name, one in sizes.items())
    return hashlib.sha256((cache / "manifest.json").read_bytes() + repr(files).encode()).hexdigest()[:16]


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Holds the root's lock. The root is made where it is not there, and removed where nothing is left in it."""
    while True:
        try:
            root.mkdir(mode=0o700, exist_ok=True)
            descriptor = _open_folder(root)
        except (FileExistsError, FileNotFoundError):
            if not _is_folder_or_gone(root) or not root.parent.is_dir():
                raise
            continue  # who held it last has removed it, after it was seen and before it was opened
        try:
            _check_ours(root, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if not _is_open(root, descriptor):
                continue  # removed by the process that we waited for
            try:
                yield
            finally:
                if not any(root.iterdir()):
                    root.rmdir()
            return
        finally:
            os.close(descriptor)


def _is_folder_or_gone(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return True


def _is_open(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False


def _check_ours(root: Path, descriptor: int) -> None:
    # Anybody may make a folder of this name in /dev/shm before we do.
    found = os.fstat(descriptor)
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise UpsError(
            f"{root} belongs to user {found.st_uid} or others may write to it: no latents are put there",
            hint="set cache.ram_disk to another folder, or to null",
        )


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _nobody_reads(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _shared(copy: Path) -> int:
    descriptor = _open_folder(copy)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _sweep(root: Path, keep: str = "") -> list[Path]:
    """Removes the copies that nobody reads; what is not a cache's stays where it is."""
    removed = []
    for copy in sorted(root.iterdir()):
        if copy.name == keep or not copy.is_dir() or not all(is_ours(path.name) for path in copy.iterdir()):
            continue
        descriptor = _open_folder(copy)
        try:
            if _nobody_reads(descriptor):
                remove(copy)
                removed.append(copy)
        finally:
            os.close(descriptor)
    return removed


def _complete(copy: Path, sizes: dict[str, os.stat_result]) -> bool:
    return copy.is_dir() and {path.name: path.stat().st_size for path in copy.iterdir()} == {
        name: one.st_size for name, one in sizes.items()
    }


def _make(cache: Path, copy: Path, sizes: dict[str, os.stat_result], say: Say, spare_bytes: int) -> None:
    """Copies under another name, which becomes `copy` when it is whole."""
    needed = sum(one.st_size for one in sizes.values())
    _check_room(copy.parent, needed, spare_bytes)
    say(f"copying the latent cache to {copy.parent}: {needed / 1e6:.1f} MB")
    partial, began, done, told = copy.with_name(f"{copy.name}.copying"), time.monotonic(), 0, time.monotonic()
    partial.mkdir()
    try:
        for name, one in sizes.items():
            shutil.copyfile(cache / name, partial / name)
            done += one.st_size
            if time.monotonic() - told > TOLD_EVERY_S:
                told = time.monotonic()
                say(f"copied {done / 1e6:.1f} of {needed / 1e6:.1f} MB")
        if not _complete(partial, sizes):
            raise UpsError(f"the latent cache {cache} changed while it was copied", hint="run the command again")
        partial.rename(copy)
    except BaseException:
        remove(partial)
        raise
    seconds = time.monotonic() - began
    say(f"copied the latent cache in {seconds:.1f} s, {needed / 1e6 / max(seconds, 1e-9):.0f} MB/s")


def _check_room(place: Path, needed: int, spare_bytes: int) -> None:
    room = free_space(place)
    if room.bytes < needed + spare_bytes:
        raise UpsError(
            f"a copy of the latent cache takes {needed / 1e6:.1f} MB in {place.parent} and leaves "
            f"{spare_bytes / 1e6:.1f} MB to the loaders, {room.bytes / 1e6:.1f} MB are {room.limit}",
            hint="set cache.ram_disk=null or auto, cache.dtype=float16, or enlarge it: docker run --shm-size=...",
        )
