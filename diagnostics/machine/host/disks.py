"""File systems: what is free, what kind, and whether one can really write there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from diagnostics.machine.facts import MachineError


class MountedDisks:
    """The Disks provider; a path that does not exist yet stands for its nearest existing parent."""

    def free_bytes(self, path: Path) -> int:
        """Returns what an ordinary user may still write, root's reserve left out."""
        stats = _statvfs(path)
        return stats.f_bavail * stats.f_frsize

    def free_inodes(self, path: Path) -> int:
        """Returns how many files may still be made; -1 where the file system does not count them."""
        stats = _statvfs(path)
        return stats.f_favail if stats.f_files else -1

    def writable(self, path: Path) -> bool:
        """Makes a file without a name there, and writes one byte."""
        folder = nearest_existing(path)
        if not folder.is_dir():
            return False
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"\0")
        except OSError:
            return False
        return True

    def file_system(self, path: Path) -> str:
        """Returns the type of the mount that holds the path."""
        real = nearest_existing(path).resolve()
        best, kind = Path("/"), "unknown"
        for line in Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines():
            _device, mount, found = line.split()[:3]
            point = Path(mount.encode().decode("unicode_escape"))  # a space is written \040
            if (point == real or point in real.parents) and len(point.parts) >= len(best.parts):
                best, kind = point, found
        return kind


def nearest_existing(path: Path) -> Path:
    """Returns the path, or the first of its parents that exists."""
    absolute = path.absolute()
    return next((item for item in (absolute, *absolute.parents) if item.exists()), Path("/"))


def _statvfs(path: Path) -> os.statvfs_result:
    try:
        return os.statvfs(nearest_existing(path))
    except OSError as error:
        raise MachineError(f"{path} cannot be read: {error.strerror}") from error
