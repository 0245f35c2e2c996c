"""The batches file of a process: what it read from its loaders, in slots that are written without locks.

Made at the first batch, reserved before it is mapped as the agent's own file is (see areas.py).
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from array import array
from hashlib import blake2b

from ..areas import CLOSED, Strings
from ..frames import CallPaths, is_library
from ..shared import batch_layout as layout

_SOURCE, _PASS, _BATCH = struct.Struct(layout.SOURCE), struct.Struct(layout.PASS), struct.Struct(layout.BATCH)
_MASK = (1 << 64) - 1
_PRIME = 0x100000001B3


def call_path(frame):
    """Returns ((code, line), ...) of the job's frames, innermost first: it keeps no frame and no variable alive."""
    found = []
    while frame is not None and len(found) < 16:
        if not is_library(frame.f_code.co_filename):
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


class Source:
    """A loader, by the line that built it, or the inputs of the model."""

    __slots__ = ("passes", "slot")

    def __init__(self, slot):
        self.slot, self.passes = slot, 0


class Pass:
    """One iteration over a source; `write` publishes what it holds."""

    __slots__ = (
        "batches", "began_ns", "epoch", "epoch_now", "first_steps", "flags", "graded", "index_order", "made_before",
        "number", "optimizer", "order", "others", "own", "path", "printed", "rows", "slot", "source", "steps", "total",
    )  # fmt: skip

    def __init__(self, source, slot):
        self.source, self.slot = source, slot
        self.number, source.passes = source.passes, source.passes + 1
        self.batches = self.rows = self.printed = self.graded = self.flags = 0
        self.order = self.total = self.index_order = 0
        self.epoch = self.epoch_now = self.first_steps = self.steps = self.optimizer = 0
        self.own = self.others = self.path = 0
        self.made_before = {}  # steps of each optimizer before it
        self.began_ns = time.monotonic_ns()

    def add_prints(self, prints):
        """Adds the prints of one batch to what tells order and set of the pass."""
        self.order = (self.order * _PRIME ^ prints.whole) & _MASK
        self.total = (self.total + prints.total) & _MASK
        self.printed += 1

    def add_indices(self, listed):
        """Adds the print of the indices of one batch."""
        self.index_order = (self.index_order * _PRIME ^ listed) & _MASK


class BatchFile:
    """Raises OSError where it cannot be reserved."""

    def __init__(self, agent_file, folder):
        self.path, self._map = _create(folder, agent_file)
        self._view = memoryview(self._map)
        self.strings = Strings(self._view[layout.STRINGS_OFFSET :])
        self._paths = CallPaths(self.strings)
        self._sources, self._passes, self._batches, self._late, self._samples = {}, 0, 0, 0, 0
        fields = (layout.VERSION, agent_file.pid, agent_file.start_ticks, time.monotonic_ns())
        struct.pack_into(layout.HEADER, self._map, 0, b"", *fields)
        self._map[: len(layout.MAGIC)] = layout.MAGIC

    def source(self, key, kind, built, sampler, facts):
        """Returns the source of this key, a new one with its facts at the first time; None where there is no room."""
        known = self._sources.get(key)
        if known is None and len(self._sources) < layout.SOURCE_SLOTS:
            slot = len(self._sources)
            known = self._sources[key] = Source(slot)
            fields = (kind, self.path_id(built), self.path_id(sampler), self.strings.intern(facts.encode()), 0)
            self._publish(_SOURCE, layout.SOURCES_OFFSET + slot * layout.SOURCE_BYTES, slot + 1, fields)
        return known

    def new_pass(self, source):
        """Returns a new pass; where all slots are taken, it takes the last one again."""
        slot = min(self._passes, layout.PASS_SLOTS - 1)
        self._passes += 1
        return Pass(source, slot)

    def write_pass(self, one):
        """Publishes a pass as it is now."""
        fields = (
            one.source.slot, one.number, one.batches, one.rows, one.order, one.total, one.index_order,
            one.epoch, one.epoch_now, one.flags, one.first_steps, one.steps, one.optimizer, one.graded, one.own,
            one.others, one.path, one.began_ns, one.printed,
        )  # fmt: skip
        _PASS.pack_into(self._map, layout.PASSES_OFFSET + one.slot * layout.PASS_BYTES, one.slot + 1, *fields)

    def has_room(self):
        """Whether one more batch of an early pass has a slot of its own."""
        return self._batches < layout.BATCH_SLOTS

    def add_batch(self, one, number, prints, indices, listed, flags):
        """Writes one batch; `listed` is the print of its indices. Returns where, for what is told of it later."""
        early = self._batches < layout.BATCH_SLOTS and one.number < layout.FULL_PASSES
        if early:
            slot, self._batches = self._batches, self._batches + 1
        else:
            slot, self._late = layout.BATCH_SLOTS + self._late % layout.LATE_SLOTS, self._late + 1
        first, kept = self._add_samples(prints, indices) if early and prints is not None else (layout.NO_SAMPLE, 0)
        rows, whole = (prints.rows, prints.whole) if prints is not None else (0, 0)
        fields = (one.slot, number, rows, whole, listed, time.monotonic_ns(), first, kept, 0, flags)
        at = layout.BATCHES_OFFSET + slot * layout.BATCH_BYTES
        self._publish(_BATCH, at, slot + 1, fields)
        return at

    def note(self, at, rows, flags):
        """Adds to a batch how many rows the model was given of it, and how."""
        struct.pack_into("<II", self._map, at + layout.BATCH_GIVEN_OFFSET, rows & 0xFFFFFFFF, flags)

    def path_id(self, pairs):
        """Returns the id of a call path made by `call_path`."""
        return self._paths._path([self._paths._frame(code, line) for code, line in pairs])

    def _add_samples(self, prints, indices):
        kept = len(prints.samples)
        first = self._samples
        if first + kept > layout.SAMPLE_SLOTS:
            return layout.NO_SAMPLE, 0
        self._samples += kept
        form = "<%dQ" % kept
        struct.pack_into(form, self._map, layout.PRINTS_OFFSET + first * 8, *prints.samples)
        if indices is not None and len(indices) == prints.rows:
            numbers = [index + 1 for index in indices[:: prints.stride]]
            struct.pack_into(form, self._map, layout.INDICES_OFFSET + first * 8, *numbers)
        return first, kept

    def _publish(self, form, at, commit, fields):
        form.pack_into(self._map, at, 0, *fields)
        struct.pack_into("<I", self._map, at, commit)


def print_of(indices):
    """Returns 64 bits of a list of numbers, the same in every process; 0 where it is none of plain indices."""
    try:
        return int.from_bytes(blake2b(array("q", indices), digest_size=8).digest(), "little") if indices else 0
    except (TypeError, OverflowError):  # keys of another kind
        return 0


def _create(folder, agent_file):
    """Returns path and map of a new, fully reserved file."""
    if os.path.exists(os.path.join(folder, CLOSED)):
        raise OSError("the job is over")
    stem = "batches-" + os.path.basename(agent_file.path)[len("agent-") : -len(".bin")]
    path = os.path.join(folder, stem + ".bin")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.posix_fallocate(fd, 0, layout.TOTAL_BYTES)
        return path, mmap.mmap(fd, layout.TOTAL_BYTES)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(fd)
