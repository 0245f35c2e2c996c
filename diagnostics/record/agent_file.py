"""Decodes an agent's file. Nothing in it is trusted: it may be half-written, or from somewhere else.

Decodes the areas of collectives and steps of an agent's file. Nothing in them is trusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import pairwise

from diagnostics.agent.shared import layout
from diagnostics.core.frame_owners import NOWHERE, Homes, home
from diagnostics.record.agent_bytes import AgentHeader, StringTable, number, read_header
from diagnostics.record.agent_data import (
    AgentData,
    CollectiveCall,
    Construction,
    GroupProgress,
    LifecycleEvent,
    ModuleEntry,
    ModuleName,
    OpenModules,
    Steps,
)
from diagnostics.record.step_timings import timings_of

MAX_RANKS = 1 << 20

_NAME_MASK = (1 << layout.NAME_BITS) - 1


def decode_agent_file(data: bytes, name: str) -> AgentData:
    """Returns what the bytes of the agent's file called `name` say. Raises AgentFileError with the reason."""
    header = read_header(data)
    text = [part.partition("=") for part in header.text]
    variables = {key: value for key, _, value in text if key.isupper()}
    plain = {key: value for key, _, value in text if key != "argv"}
    packages = tuple(filter(None, plain.get("packages", "").split(":")))
    executable, stdlib = plain.get("executable", ""), plain.get("stdlib", "")
    homes = home(plain.get("agent", ""), stdlib, packages, executable, plain.get("cwd", ""))
    modules, names = header.areas.get("modules", b""), StringTable(header.areas.get("names", b""), homes)
    problems = list(header.problems)
    if modules and len(modules) < layout.MODULES_BYTES:
        problems.append(f"area modules has {len(modules)} bytes instead of {layout.MODULES_BYTES}")
        modules = b""
    lifecycle = header.areas.get("lifecycle", b"")
    calls, groups, call_problems = _collectives(header, homes)
    return AgentData(
        name=name,
        pid=header.pid,
        parent_pid=header.parent_pid,
        start_ticks=header.start_ticks,
        forked_from=header.forked_from,
        started_ns=header.wall_ns,
        variables=variables,
        argv=tuple(value for key, _, value in text if key == "argv"),
        cwd=plain.get("cwd", ""),
        python=plain.get("python", ""),
        agent_folder=plain.get("agent", ""),
        events=tuple(sorted(_events(lifecycle, header, homes), key=lambda event: event.sequence)),
        dropped_events=int.from_bytes(lifecycle[:4], "little"),
        open_modules=tuple(_open_modules(modules, names)),
        entered=tuple(_entered(modules, names)),
        constructions=tuple(_constructions(modules, names)),
        problems=(*problems, *call_problems),
        collectives=calls,
        groups=groups,
        steps=training_steps(header.areas.get("steps", b""), header.monotonic_ns),
        timings=timings_of(header.areas.get("timings", b""), header.monotonic_ns),
        stdlib=stdlib,
        packages=packages,
        executable=executable,
    )


def _collectives(
    header: AgentHeader, homes: Homes
) -> tuple[tuple[CollectiveCall, ...], tuple[GroupProgress, ...], tuple[str, ...]]:
    area = header.areas.get("collectives", b"")
    if not area:
        return (), (), ()
    if len(area) < layout.COLLECTIVES_BYTES:
        return (), (), (f"area collectives has {len(area)} bytes instead of {layout.COLLECTIVES_BYTES}",)
    unlisted = int.from_bytes(area[:4], "little")
    problems = (f"{unlisted} process groups had no room in the file",) if unlisted else ()
    return collective_calls(area, header.monotonic_ns, homes), group_progress(area), problems


def _events(area: bytes, header: AgentHeader, homes: Homes) -> Iterator[LifecycleEvent]:
    strings = StringTable(header.areas.get("strings", b""), homes)
    for slot in range((len(area) - layout.LIFECYCLE_HEADER_BYTES) // layout.EVENT_BYTES):
        at = layout.LIFECYCLE_HEADER_BYTES + slot * layout.EVENT_BYTES
        commit, thread, sequence, now, kind, text, path, _, value = struct.unpack_from(layout.EVENT, area, at)
        if commit != slot + 1:
            continue
        yield LifecycleEvent(
            sequence=sequence,
            seconds=round((now - header.monotonic_ns) / 1e9, 6),
            kind=strings.text(kind),
            text=strings.text(text),
            value=value,
            thread=thread,
            path=strings.call_path(path),
        )


def _module(names: StringTable, ident: int) -> ModuleName:
    path, class_name, root_class = names.parts(ident, 3)
    return ModuleName(path=path, class_name=class_name or "?", root_class=root_class)


def _open_modules(area: bytes, names: StringTable) -> Iterator[OpenModules]:
    if not area:
        return
    for index in range(layout.STACK_COUNT):
        at = layout.MODULES_HEADER_BYTES + index * layout.STACK_WORDS * 4
        thread, depth, left, left_at, *stack = struct.unpack_from(f"<{layout.STACK_WORDS}I", area, at)
        if thread:
            yield OpenModules(
                thread=thread,
                depth=depth,
                modules=tuple(_module(names, ident) for ident in stack[: min(depth, layout.STACK_LEVELS)]),
                left_by_exception=_module(names, left) if left else None,
                left_at=left_at,
            )


def _ring(area: bytes, index: int) -> list[tuple[int, int]]:
    """Returns (sequence, what) of one ring, oldest first."""
    if not area:
        return []
    at = layout.MODULES_HEADER_BYTES + layout.STACKS_BYTES + index * layout.RING_BYTES
    words = struct.unpack_from(f"<{layout.RING_SLOTS}Q", area, at)
    low = (1 << layout.SEQUENCE_SHIFT) - 1
    return sorted((word >> layout.SEQUENCE_SHIFT, word & low) for word in words if word)


def _entered(area: bytes, names: StringTable) -> Iterator[ModuleEntry]:
    for sequence, what in _ring(area, 0):
        backward = what >> layout.NAME_BITS == layout.KIND_BACKWARD
        yield ModuleEntry(sequence=sequence, module=_module(names, what & _NAME_MASK), backward=backward)


def _constructions(area: bytes, names: StringTable) -> Iterator[Construction]:
    for sequence, what in _ring(area, 1):
        class_name, path, own = names.parts(what & _NAME_MASK, 3)
        frames = names.call_path(number(path))
        yield Construction(sequence=sequence, class_name=class_name or "?", path=frames, own=number(own))


def collective_calls(
    area: bytes, began_ns: int, homes: Homes = NOWHERE, slots: Iterable[int] = range(layout.CALL_SLOTS)
) -> tuple[CollectiveCall, ...]:
    """Returns the calls in these slots of the ring, oldest first; times are seconds since `began_ns`."""
    strings = StringTable(area[layout.CALL_STRINGS_OFFSET :], homes)
    return tuple(sorted(_calls(area, strings, began_ns, slots), key=lambda call: call.sequence))


def _calls(area: bytes, strings: StringTable, began_ns: int, slots: Iterable[int]) -> Iterator[CollectiveCall]:
    for slot in slots:
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
