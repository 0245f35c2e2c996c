"""The agent's memory-mapped file: reserved before it is mapped, written without locks.

A sparse map on a full file system kills its writer with SIGBUS, so each part is reserved with
posix_fallocate first: no space, no file, and an empty file whose name ends in the reason.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
import time
from _thread import allocate_lock, get_native_id
from itertools import count

from .shared import layout
from .shared.redaction import hide_words

ENDING_STRINGS_BYTES = 6 * 1024  # of the strings, kept for how the process ends

CLOSED = "closed"  # a file that the doctor leaves in the folder at the end

_kept = []  # maps of a parent process: closing one would close a descriptor the job may have reused


class Strings:
    """Append-only table of byte strings; equal strings share one id. Id 0 means: not recorded."""

    def __init__(self, area, reserved=0):
        self._area = area
        self._end = len(area) - reserved
        self._known = {}
        self._next = layout.STRINGS_HEADER_BYTES
        self._lock = allocate_lock()

    def intern(self, data):
        """Returns the id of `data`, 0 where the table is full or another thread is writing to it."""
        known = self._known.get(data)
        if known is not None:
            return known
        if not self._lock.acquire(False):  # never wait: the job's thread would
            return 0
        try:
            return self._append(data[: layout.MAX_STRING_BYTES], data)
        finally:
            self._lock.release()

    def open_reserve(self):
        """From now on the reserved room may be used."""
        self._end = len(self._area)

    def _append(self, stored, key):
        start, end = self._next, self._next + 2 + len(stored)
        if end > self._end:
            dropped = struct.unpack_from("<I", self._area)[0]
            struct.pack_into("<I", self._area, 0, dropped + 1)
            return 0
        self._area[start + 2 : end] = stored
        struct.pack_into("<H", self._area, start, len(stored))
        self._next = end
        self._known[key] = start
        return start


class Lifecycle:
    """The rare events of a process, each in a slot of its own that is never written again."""

    def __init__(self, area, strings, tick):
        self._area, self._strings, self._tick = area, strings, tick
        self._slots = count()
        self._ending_slots = count(layout.EVENT_SLOTS - layout.ENDING_SLOTS)
        self._dropped = count(1)

    def add(self, kind, text, path, value, ending, over=None):
        """Writes one event, over the one in slot `over`; returns its slot, None where there was none left.

        `ending` ones have slots that no other event can take.
        """
        slot = next(self._ending_slots if ending else self._slots) if over is None else over
        if slot >= (layout.EVENT_SLOTS if ending else layout.EVENT_SLOTS - layout.ENDING_SLOTS):
            struct.pack_into("<I", self._area, 0, next(self._dropped))
            return None
        at = layout.LIFECYCLE_HEADER_BYTES + slot * layout.EVENT_BYTES
        intern = self._strings.intern
        fields = (get_native_id(), self._tick(), time.monotonic_ns(), intern(kind), intern(text), path, 0, value)
        struct.pack_into(layout.EVENT, self._area, at, 0, *fields)
        struct.pack_into("<I", self._area, at, slot + 1)
        return slot

    def retract(self, slot):
        """Takes an event back: its slot reads as one that was never written."""
        struct.pack_into("<I", self._area, layout.LIFECYCLE_HEADER_BYTES + slot * layout.EVENT_BYTES, 0)


class AgentFile:
    """The file of this process: `strings`, `lifecycle`, and `torch_area(name)` from the first use of torch.nn on."""

    def __init__(self, folder, tick, forked_from=0):
        self.pid, self.start_ticks = os.getpid(), _start_ticks()
        size = layout.FORKED_BASE_BYTES if forked_from else layout.BASE_BYTES
        self.path, self._map = _create(folder, "agent-%d-%d" % (self.pid, self.start_ticks), size)
        self._base_bytes = size
        self.is_forked = bool(forked_from)
        self._areas = {}
        self._table_length = 0
        view = memoryview(self._map)
        for name, offset, length in layout.base_areas(size):
            self._publish(name, offset, length, view[offset : offset + length])
        self.strings = Strings(self._areas["strings"], ENDING_STRINGS_BYTES)
        self.lifecycle = Lifecycle(self._areas["lifecycle"], self.strings, tick)
        self._write_header(forked_from)

    def torch_area(self, name):
        """Returns the writable view of one of the areas of torch; raises OSError where it cannot be reserved."""
        if name not in self._areas:
            self._grow()
        return self._areas[name]

    @property
    def has_torch(self):
        """Whether this process used torch.nn."""
        return len(self._areas) > len(layout.base_areas(self._base_bytes))

    def keep_forever(self):
        """Leaves the map alone in a forked child: it is the parent's."""
        _kept.append(self)

    def _grow(self):
        areas, end = layout.torch_areas(self._base_bytes)
        fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.posix_fallocate(fd, self._base_bytes, end - self._base_bytes)
            self._torch_map = mmap.mmap(fd, end - self._base_bytes, offset=self._base_bytes)
        finally:
            os.close(fd)
        view = memoryview(self._torch_map)
        for name, offset, length in areas:
            start = offset - self._base_bytes
            self._publish(name, offset, length, view[start : start + length])

    def _publish(self, name, offset, length, view):
        self._areas[name] = view
        at = layout.AREA_TABLE_OFFSET + self._table_length * layout.AREA_ENTRY_BYTES
        struct.pack_into(layout.AREA_ENTRY, self._map, at, name.encode(), offset, length)
        self._table_length += 1

    def _write_header(self, forked_from):
        text = b"\0".join(_header_text())[: layout.TEXT_BYTES]
        self._map[layout.TEXT_OFFSET : layout.TEXT_OFFSET + len(text)] = text
        fields = (layout.VERSION, layout.HEADER_BYTES, self.pid, os.getppid(), self.start_ticks)
        clocks = (time.monotonic_ns(), time.time_ns())
        struct.pack_into(layout.HEADER, self._map, 0, b"", *(fields + clocks + (forked_from, len(text))))
        self._map[: len(layout.MAGIC)] = layout.MAGIC


def _create(folder, stem, size):
    """Returns path and map of a new, fully reserved file; after an exec the same pid gets the next number."""
    if os.path.exists(os.path.join(folder, CLOSED)):
        raise OSError(errno.EROFS, "the job is over; this program outlives it")
    for attempt in range(100):
        path = os.path.join(folder, "%s%s.bin" % (stem, "-%d" % attempt if attempt else ""))
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            continue
        try:
            os.posix_fallocate(fd, 0, size)
            return path, mmap.mmap(fd, size)
        except OSError as error:
            _leave_reason(path, error)
            raise
        finally:
            os.close(fd)
    raise FileExistsError(stem)


def _leave_reason(path, error):
    """Replaces the file by an empty one named after the error: a name needs no free block."""
    os.unlink(path)
    reason = errno.errorcode.get(error.errno, "UNKNOWN")
    os.close(os.open(path[: -len(".bin")] + "." + reason, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _start_ticks():
    """Returns the start time of this process in clock ticks since boot, field 22 of /proc/self/stat."""
    with open("/proc/self/stat", "rb", buffering=0) as stat:
        return int(stat.read(4096).rpartition(b")")[2].split()[19])


# Public facts about who this process is; anything secret stays out of the file.
RANK_VARIABLES = (
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_RUN_ID",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NTASKS",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
)


def _packages(sys):
    """Returns the folders of installed packages; an old virtualenv cannot tell, then those on the path are."""
    site = sys.modules.get("site")
    found = list(getattr(site, "getsitepackages", list)())
    if getattr(site, "ENABLE_USER_SITE", False) and getattr(site, "USER_SITE", None):
        found.append(site.USER_SITE)
    return [folder for folder in found or sys.path if folder.endswith("-packages")][:4]


def _header_text():
    import sys

    for name in RANK_VARIABLES:
        value = os.environ.get(name)
        if value is not None:
            yield os.fsencode("%s=%s" % (name, value[:200]))
    yield b"python=%d.%d.%d" % sys.version_info[:3]
    yield b"executable=" + os.fsencode(sys.executable or "")
    yield b"agent=" + os.fsencode(os.path.dirname(os.path.abspath(__file__)))
    yield b"stdlib=" + os.fsencode(os.path.dirname(os.__file__))
    yield b"packages=" + os.fsencode(":".join(_packages(sys)))
    try:
        yield b"cwd=" + os.fsencode(os.getcwd())
    except OSError:
        pass  # the folder was removed
    for word in hide_words(getattr(sys, "orig_argv", None) or getattr(sys, "argv", [])):
        yield b"argv=" + os.fsencode(word)[:400]
