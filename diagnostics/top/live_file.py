"""An agent's file while its process writes it: what is newest, by a few reads, so that it can be asked each second.

As the decoder of whole files it trusts nothing: each read is bounded, a slot that is half-written is left out.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diagnostics.agent.shared import layout
from diagnostics.agent.shared import timing_layout as timing
from diagnostics.record.agent_bytes import StringTable, read_header
from diagnostics.record.agent_data import AgentData, CollectiveCall, Steps
from diagnostics.record.agent_file import collective_calls, decode_agent_file, group_progress, training_steps
from diagnostics.record.step_timings import Phase, StepTiming, steps_of
from diagnostics.record.untrusted_files import read_bytes

LATEST_CALLS = 8
RECENT = 32  # steps that a share is taken over
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestState:
    """What a process did last; times are seconds since its agent started."""

    steps: Steps
    call: CollectiveCall | None  # the last one that was entered
    earlier: tuple[CollectiveCall, ...]  # some before it, oldest first, and that one
    recent: tuple[StepTiming, ...]
    module: str

    @property
    def data_share(self) -> float | None:
        """How much of the latest steps went by in waiting for data."""
        whole = sum(step.wall_s for step in self.recent)
        return sum(step.of(Phase.DATA) for step in self.recent) / whole if whole else None

    @property
    def steps_per_s(self) -> float | None:
        """How fast the latest steps were."""
        latest = self.steps.durations_s[-RECENT:]
        return len(latest) / sum(latest) if latest and sum(latest) else None


class LiveFile:
    """One agent's file. Raises AgentFileError and OSError where it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.agent: AgentData = self._whole()
        self.groups: dict[str, tuple[int, ...]] = {one.group: one.ranks for one in self.agent.groups}
        self.monotonic_ns = read_header(self._bytes(0, layout.HEADER_BYTES)).monotonic_ns
        self._areas: dict[str, tuple[int, int]] = {}

    def identify(self) -> None:
        """Reads the whole file again: which rank it is may be known only once it has made a process group."""
        self.agent = self._whole()
        self.groups = {one.group: one.ranks for one in self.agent.groups}

    def look(self) -> LatestState:
        """Returns what is newest."""
        self._read_table()
        calls = self._latest_calls()
        call = calls[-1] if calls else None
        if call is not None and call.group not in self.groups:
            area = self._area("collectives")
            whole = len(area) >= layout.COLLECTIVES_BYTES
            self.groups = {one.group: one.ranks for one in group_progress(area)} if whole else {}
        return LatestState(
            steps=training_steps(self._area("steps"), self.monotonic_ns),
            call=call,
            earlier=calls,
            recent=self._recent_steps(),
            module=self._module(),
        )

    def _whole(self) -> AgentData:
        return decode_agent_file(read_bytes(self.path), self.path.name)

    def _read_table(self) -> None:
        """Reads where the areas lie: those of torch are added later."""
        table = self._bytes(layout.AREA_TABLE_OFFSET, layout.AREA_COUNT * layout.AREA_ENTRY_BYTES)
        found = {}
        whole = len(table) // layout.AREA_ENTRY_BYTES * layout.AREA_ENTRY_BYTES
        for raw, offset, length in struct.iter_unpack(layout.AREA_ENTRY, table[:whole]):
            name = raw.rstrip(b"\0").decode("ascii", "replace")
            if name and offset + length <= MOST_BYTES:
                found[name] = (offset, length)
        self._areas = found

    def _bytes(self, offset: int, length: int) -> bytes:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return os.pread(descriptor, length, offset)
        finally:
            os.close(descriptor)

    def _area(self, name: str, start: int = 0, most: int = MOST_BYTES) -> bytes:
        offset, length = self._areas.get(name, (0, 0))
        return self._bytes(offset + start, min(length - start, most)) if length > start else b""

    def _latest_calls(self) -> tuple[CollectiveCall, ...]:
        ring = self._area("collectives", layout.CALLS_OFFSET, layout.CALL_SLOTS * layout.CALL_BYTES)
        if len(ring) < layout.CALL_SLOTS * layout.CALL_BYTES:
            return ()
        commits = np.frombuffer(ring, dtype="<u8").reshape(layout.CALL_SLOTS, -1)[:, 0]  # 0: an empty slot
        slots = np.argpartition(commits, -LATEST_CALLS)[-LATEST_CALLS:]
        gap = bytes(layout.CALL_STRINGS_OFFSET - layout.CALLS_OFFSET - len(ring))
        strings = self._area("collectives", layout.CALL_STRINGS_OFFSET)
        area = b"".join((bytes(layout.CALLS_OFFSET), ring, gap, strings))
        return collective_calls(area, self.monotonic_ns, slots=[int(slot) for slot in slots])

    def _recent_steps(self) -> tuple[StepTiming, ...]:
        head = self._area("timings", 0, timing.HEADER_BYTES)
        if len(head) < timing.HEADER_BYTES:
            return ()
        count = int.from_bytes(head[8 * timing.STEPS : 8 * timing.STEPS + 8], "little")
        first = max(1, count - RECENT + 1)
        slots = [number % timing.STEP_SLOTS for number in range(first, count + 1)] if count < 1 << 40 else []
        found: list[StepTiming] = []
        for low, high in _runs(slots):
            begin, length = timing.RING_OFFSET + low * timing.STEP_BYTES, (high - low + 1) * timing.STEP_BYTES
            found += steps_of(self._area("timings", begin, length), self.monotonic_ns, low)
        return tuple(found)

    def _module(self) -> str:
        area = self._area("modules", layout.MODULES_HEADER_BYTES, layout.STACKS_BYTES + layout.RING_BYTES)
        if len(area) < layout.STACKS_BYTES + layout.RING_BYTES:
            return ""
        ring = np.frombuffer(area, dtype="<u8", offset=layout.STACKS_BYTES)
        newest = int(ring.max())
        ident = newest & ((1 << layout.NAME_BITS) - 1)
        if not newest or not ident:
            return ""
        entry = self._area("names", ident, layout.MAX_STRING_BYTES + 2)
        # A table of one string, at the first place where one may stand.
        path, class_name = StringTable(bytes(layout.STRINGS_HEADER_BYTES) + entry).parts(layout.STRINGS_HEADER_BYTES, 2)
        return path or class_name


def _runs(slots: list[int]) -> list[tuple[int, int]]:
    """Returns the first and last of each run: a ring's latest slots may go on at its beginning."""
    cut = next((place for place in range(1, len(slots)) if slots[place] != slots[place - 1] + 1), len(slots))
    return [(part[0], part[-1]) for part in (slots[:cut], slots[cut:]) if part]
