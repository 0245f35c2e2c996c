"""Decodes the areas of collectives and steps of an agent's file. Nothing in them is trusted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise

from diagnostics.agent import layout
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import StringTable
from diagnostics.record.agent_data import CollectiveCall, GroupProgress, Steps

MAX_RANKS = 1 << 20


def collective_calls(area: bytes, began_ns: int, homes: Homes = NOWHERE) -> tuple[CollectiveCall, ...]:
    """Returns the calls in the ring, oldest first; times are seconds since `began_ns`."""
    strings = StringTable(area[layout.CALL_STRINGS_OFFSET :], homes)
    return tuple(sorted(_calls(area, strings, began_ns), key=lambda call: call.sequence))


def _calls(area: bytes, strings: StringTable, began_ns: int) -> Iterator[CollectiveCall]:
    for slot in range(layout.CALL_SLOTS):
        fields = struct.unpack_from(layout.CALL, area, layout.CALLS_OFFSET + slot * layout.CALL_BYTES)
        commit, sequence, entered, left, number, thread, op, group, shape, dtype, path, root, flags = fields
        if not commit or (commit - 1) % layout.CALL_SLOTS != slot:
            continue
        yield CollectiveCall(
            sequence=sequence,
            number=number,
            op=strings.text(op),
            group=strings.text(group),
            shape=strings.text(shape),
            dtype=strings.text(dtype),
            root=None if root == layout.NO_ROOT else root,
            path=strings.call_path(path),
            entered_s=_seconds(entered, began_ns),
            left_s=_seconds(left, began_ns) if left else None,
            asynchronous=bool(flags & layout.FLAG_ASYNC),
            failed=bool(flags & layout.FLAG_FAILED),
            thread=thread,
        )


def group_progress(area: bytes) -> tuple[GroupProgress, ...]:
    """Returns the groups that were used, in the order of their first use."""
    strings = StringTable(area[layout.CALL_STRINGS_OFFSET :])
    groups = []
    for slot in range(layout.GROUP_SLOTS):
        at = layout.GROUPS_OFFSET + slot * layout.GROUP_BYTES
        commit, name, ranks, uneven, calls, rolling = struct.unpack_from(layout.GROUP, area, at)
        if commit:
            groups.append(
                GroupProgress(
                    group=strings.text(name),
                    ranks=ranks_of(strings.text(ranks)),
                    calls=calls,
                    rolling_hash=rolling,
                    checkpoints=_checkpoints(area, slot, calls),
                    uneven=uneven,
                )
            )
    return tuple(groups)


def _checkpoints(area: bytes, slot: int, calls: int) -> tuple[tuple[int, int], ...]:
    at = layout.CHECKPOINTS_OFFSET + slot * layout.CHECKPOINT_SLOTS * 8
    hashes = struct.unpack_from(f"<{layout.CHECKPOINT_SLOTS}Q", area, at)
    last = calls // layout.CHECKPOINT_EVERY
    first = max(1, last - layout.CHECKPOINT_SLOTS + 1)
    return tuple((n * layout.CHECKPOINT_EVERY, hashes[n % layout.CHECKPOINT_SLOTS]) for n in range(first, last + 1))


def ranks_of(text: str) -> tuple[int, ...]:
    """Returns (0, 1, 2, 8) for "0-2,8"; nothing where it is not written like that."""
    ranks: list[int] = []
    for run in text.split(","):
        low, _, high = run.partition("-")
        high = high or low
        if not (low.isdecimal() and high.isdecimal()) or not 0 <= int(high) - int(low) < MAX_RANKS - len(ranks):
            return ()
        ranks.extend(range(int(low), int(high) + 1))
    return tuple(ranks)


def training_steps(area: bytes, began_ns: int) -> Steps:
    """Returns the steps; times are seconds since `began_ns`."""
    if len(area) < layout.STEPS_BYTES:
        return Steps()
    words = struct.unpack_from(f"<{layout.STEPS_BYTES // 8}Q", area)
    count, ring = words[layout.STEP_COUNT], words[layout.STEPS_HEADER_WORDS :]
    latest = range(max(1, count - layout.STEP_SLOTS + 1), count + 1)
    times = [ring[step % layout.STEP_SLOTS] for step in latest]
    entered, number = words[layout.BACKWARD_ENTERED], words[layout.GROUP_NUMBER]

    def seconds(word: int) -> float | None:
        return _seconds(words[word], began_ns) if words[word] else None

    return Steps(
        count=count,
        first_s=seconds(layout.STEP_FIRST),
        last_s=seconds(layout.STEP_LAST),
        durations_s=tuple(max(0.0, round((b - a) / 1e9, 6)) for a, b in pairwise(times)),
        backwards=words[layout.BACKWARDS],
        in_backward=entered > words[layout.BACKWARD_LEFT],
        backward_entered_s=seconds(layout.BACKWARD_ENTERED),
        group_number=number - 1 if number else None,
        group_number_at_s=seconds(layout.GROUP_NUMBER_AT),
    )


def _seconds(now_ns: int, began_ns: int) -> float:
    return round((now_ns - began_ns) / 1e9, 6)
