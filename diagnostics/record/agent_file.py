"""Decodes an agent's file. Nothing in it is trusted: it may be half-written, or from somewhere else."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from diagnostics.agent import layout
from diagnostics.core.frame_owners import Homes, home
from diagnostics.record.agent_areas import collective_calls, group_progress, training_steps
from diagnostics.record.agent_bytes import Header, StringTable, number, read_header
from diagnostics.record.agent_data import (
    AgentFile,
    CollectiveCall,
    Construction,
    Event,
    GroupProgress,
    ModuleEntry,
    ModuleName,
    OpenModules,
)

_NAME_MASK = (1 << layout.NAME_BITS) - 1


def decode_agent_file(data: bytes, name: str) -> AgentFile:
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
    return AgentFile(
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
        stdlib=stdlib,
        packages=packages,
        executable=executable,
    )


def _collectives(
    header: Header, homes: Homes
) -> tuple[tuple[CollectiveCall, ...], tuple[GroupProgress, ...], tuple[str, ...]]:
    area = header.areas.get("collectives", b"")
    if not area:
        return (), (), ()
    if len(area) < layout.COLLECTIVES_BYTES:
        return (), (), (f"area collectives has {len(area)} bytes instead of {layout.COLLECTIVES_BYTES}",)
    unlisted = int.from_bytes(area[:4], "little")
    problems = (f"{unlisted} process groups had no room in the file",) if unlisted else ()
    return collective_calls(area, header.monotonic_ns, homes), group_progress(area), problems


def _events(area: bytes, header: Header, homes: Homes) -> Iterator[Event]:
    strings = StringTable(header.areas.get("strings", b""), homes)
    for slot in range((len(area) - layout.LIFECYCLE_HEADER_BYTES) // layout.EVENT_BYTES):
        at = layout.LIFECYCLE_HEADER_BYTES + slot * layout.EVENT_BYTES
        commit, thread, sequence, now, kind, text, path, _, value = struct.unpack_from(layout.EVENT, area, at)
        if commit != slot + 1:
            continue
        yield Event(
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
