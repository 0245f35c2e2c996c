"""Reads frames-PID-START.json: the Python stacks of all threads of a process, as its own agent wrote them. Pure.

The file is untrusted: what has the wrong type counts as missing, and sizes are bounded.

The text faulthandler writes when a process dies by a signal.

Reads captures/stacks-from-outside-PID.json: the stacks of a living process, taken without its help.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame, Scalar
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import number, printable
from diagnostics.record.untrusted_values import number_of, text_of

_MOST_THREADS, _MOST_FRAMES = 256, 256
_MOST_VALUES = 64  # of one frame
_NOT_IN_JSON = ("nan", "inf", "-inf")

_HEAD = re.compile(r"^(?:Fatal Python error: (.{1,200})|(Timeout \(.{1,40}\))!)$", re.MULTILINE)
_THREAD = re.compile(r"^(Current thread|Thread) 0x([0-9a-fA-F]{1,16}).{0,100}\(most recent call first\):$")
_FRAME = re.compile(r'^  File "(.{0,1000})", line (\d{1,9}|\?\?\?) in (.{1,600})$')

MAX_THREADS, MAX_FRAMES = 512, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFrames:
    """One thread. `native` is the kernel's number of it, as in CollectiveCall.thread; 0 unknown."""

    name: str
    native: int
    main: bool
    frames: tuple[Frame, ...]  # innermost first
    awaits: tuple[Frame, ...] = ()  # of the coroutines that its event loop runs for, innermost first
    handles: HandledError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledError:
    """An exception that a thread was handling, or that was on its way out, when its process was asked."""

    text: str  # "ValueError: no such row"
    frames: tuple[Frame, ...]  # innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStacks:
    """All threads of one process, the main thread first, and the counter of its default group at that moment."""

    threads: tuple[ThreadFrames, ...] = ()
    group_number: int | None = None

    @property
    def main(self) -> tuple[Frame, ...]:
        """The stack of the main thread, () where it is not there."""
        return next((thread.frames for thread in self.threads if thread.main), ())

    def with_awaited(self, stack: Sequence[Frame]) -> tuple[Frame, ...]:
        """Returns a stack of the main thread with the coroutines for which its event loop runs, which it calls."""
        awaited = next((thread.awaits for thread in self.threads if thread.main), ())
        loop = [at for at, frame in enumerate(stack) if "/asyncio/" in frame.file] if awaited else []
        return (*stack[: loop[-1] + 1], *awaited, *stack[loop[-1] + 1 :]) if loop else tuple(stack)

    @property
    def handles(self) -> HandledError | None:
        """What the main thread was handling, None for nothing."""
        return next((thread.handles for thread in self.threads if thread.main), None)

    def with_values(self, path: Sequence[Frame]) -> tuple[Frame, ...]:
        """Returns a path of the main thread whose frames know what their variables held when the process was asked."""
        told, found = list(self.main), []
        for frame in path:
            at = told.index(frame) if frame in told else -1
            found.append(replace(frame, span=told[at].span, values=told[at].values) if at >= 0 else frame)
            del told[: at + 1]
        return tuple(found)


def frames_from_json(value: Any, homes: Homes = NOWHERE) -> AgentStacks:
    """Returns what such a file says. Raises ValueError where it is no object with a list of threads."""
    listed = value.get("threads") if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("holds no list of threads")
    threads = [_thread(one, homes) for one in listed[:MAX_THREADS] if isinstance(one, Mapping)]
    return AgentStacks(
        threads=tuple(sorted(threads, key=lambda thread: not thread.main)),
        group_number=number_of(value.get("group_number")),
    )


def _thread(value: Mapping[str, Any], homes: Homes) -> ThreadFrames:
    return ThreadFrames(
        name=text_of(value.get("name")),
        native=number_of(value.get("native")) or 0,
        main=value.get("main") is True,
        frames=_told_frames(value.get("frames"), homes),
        awaits=_told_frames(value.get("awaits"), homes),
        handles=_handled(value.get("handles"), homes),
    )


def _told_frames(value: Any, homes: Homes) -> tuple[Frame, ...]:
    frames = value[:MAX_FRAMES] if isinstance(value, list) else []
    return homes.kept(
        Frame(
            file=text_of(one.get("file")),
            line=number_of(one.get("line")) or 0,
            function=text_of(one.get("function")),
            span=_span(one.get("span")),
            values=tuple(_values(one.get("values"))),
        )
        for one in frames
        if isinstance(one, Mapping)
    )


def _handled(value: Any, homes: Homes) -> HandledError | None:
    text = text_of(value.get("text")) if isinstance(value, Mapping) else ""
    return HandledError(text=text, frames=_told_frames(value.get("frames"), homes)) if text else None


def _span(value: Any) -> tuple[int, int, int, int] | None:
    numbers = [number_of(one) for one in value] if isinstance(value, list) else []
    match numbers:
        case [int(line), int(end_line), int(column), int(end_column)]:
            return line, end_line, column, end_column
        case _:
            return None


def _values(value: Any) -> Iterator[tuple[str, Scalar]]:
    for name, held in islice(value.items(), _MOST_VALUES) if isinstance(value, Mapping) else ():
        if held is None or isinstance(held, (bool, int, float)):
            yield text_of(name), held
        elif held in _NOT_IN_JSON:
            yield text_of(name), float(held)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadStack:
    """One thread, innermost frame first."""

    ident: str
    crashed: bool
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaulthandlerLog:
    """`error` is faulthandler's word for the signal ("Segmentation fault"), or "Timeout (0:00:30)" of a timed dump."""

    error: str
    threads: tuple[ThreadStack, ...]

    @property
    def crashed(self) -> ThreadStack | None:
        """The thread that was running when the signal came; in a timed dump the main thread, which comes last."""
        timed = self.threads[-1] if self.threads and self.error.startswith("Timeout") else None
        return next((thread for thread in self.threads if thread.crashed), timed)


def parse_fault_report(text: str, homes: Homes = NOWHERE) -> FaulthandlerLog | None:
    """Returns the last report in `text`, which may hold other output too; None where there is none."""
    heads = list(_HEAD.finditer(text))
    if not heads:
        return None
    head = heads[-1]
    threads: list[tuple[str, bool, list[Frame]]] = []
    for line in text[head.end() :].splitlines():
        if thread := _THREAD.match(line):
            threads.append((thread[2], thread[1] == "Current thread", []))
        elif (frame := _FRAME.match(line)) and threads:
            file, function = printable(frame[1].encode()), printable(frame[3].encode())
            threads[-1][2].append(Frame(file=file, line=number(frame[2]), function=function))
    return FaulthandlerLog(
        error=printable((head[1] or head[2]).encode()),
        threads=tuple(
            ThreadStack(ident=i, crashed=crashed, frames=homes.kept(frames)) for i, crashed, frames in threads
        ),
    )


def parse_outside_stacks(text: str, homes: Homes = NOWHERE) -> tuple[tuple[Frame, ...], ...]:
    """Returns the frames of each thread, innermost first, the main thread first; () of another text."""
    try:
        value = untrusted_json.loads(text)
    except ValueError:
        return ()
    threads = value.get("threads") if isinstance(value, dict) else None
    found = (homes.kept(_frames(thread)) for thread in _list(threads)[:_MOST_THREADS])
    return tuple(frames for frames in found if frames)


def _frames(thread: Any) -> tuple[Frame, ...]:
    frames = _list(thread.get("frames")) if isinstance(thread, dict) else []
    return tuple(frame for item in frames[:_MOST_FRAMES] if (frame := _frame(item)) is not None)


def _frame(item: Any) -> Frame | None:
    if not isinstance(item, dict):
        return None
    file, line, function = item.get("file"), item.get("line"), item.get("function")
    if not isinstance(file, str) or not isinstance(function, str) or not isinstance(line, int):
        return None
    return Frame(file=printable(file.encode()), line=line, function=printable(function.encode()))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
