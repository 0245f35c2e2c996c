"""The lanes of a trace as shapes: x goes from 0 to 1000 over the whole time, so that a viewer zooms by a viewBox. Pure.

The latest marks of a lane stand alone; of earlier ones those that lie too close together are drawn as one, which says
how many it stands for. What is hovered or clicked is told by `marks`: [lane, text, number of its stack].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from diagnostics.core.job_trace import CallSpan, JobTrace, Lane, StepSpan
from diagnostics.report.html.stack_tree import rank_set

WIDTH = 1000.0
HEIGHT = 46  # of a lane, in CSS pixels: steps, calls, memory
STEPS_Y, STEPS_H, CALLS_Y, CALLS_H, MEMORY_Y, MEMORY_H = 3, 13, 19, 11, 33, 10
CLOSE = 1.6  # marks narrower than this, on that scale, are joined
ALONE = 48  # of the latest steps and calls
MOST_MARKS = 5_000  # of a page
WAITED_S = 1.0  # a call that is longer is told apart
PHASES = ("data", "forward", "backward", "collective", "optimizer", "checkpoint", "evaluation", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A rectangle, or where `width` is 0 a line over the whole lane; `mark` is its place in `marks`."""

    style: str
    x: float
    width: float
    y: float
    height: float
    mark: int


@dataclass(slots=True, kw_only=True)
class DrawnLane:
    """One lane: its label, what a screen reader says of it, and its shapes."""

    label: str
    role: str
    told: str
    shapes: list[Shape] = field(default_factory=list)
    memory: str = ""  # the points of a polyline
    memory_told: str = ""


@dataclass(slots=True, kw_only=True)
class Picture:
    """All lanes; `joins` are collectives that two or more lanes made together: (x, first lane, last lane)."""

    lanes: list[DrawnLane]
    ticks: list[tuple[float, str]]
    joins: list[tuple[float, int, int, bool]]
    marks: list[list[Any]]
    stacks: list[str]
    until_s: float
    view: tuple[float, float]  # first shown: x and width, from where training began
    hidden: int  # ranks that no lane stands for
    height: int


def picture_of(trace: JobTrace, most_marks: int = MOST_MARKS) -> Picture:
    """Returns the picture of the lanes that there is something to draw of."""
    drawing = _Drawing(trace, most_marks)
    lanes = [drawing.lane(number, lane) for number, lane in enumerate(trace.lanes)]
    stood_for = sum(len(lane.same) for lane in trace.lanes)
    return Picture(
        lanes=lanes,
        ticks=_ticks(drawing.view, drawing.until_s),
        joins=drawing.joins(),
        marks=drawing.marks,
        stacks=list(drawing.stacks),
        until_s=drawing.until_s,
        view=drawing.view,
        hidden=max(0, trace.ranks - stood_for),
        height=HEIGHT * len(lanes),
    )


class _Drawing:
    def __init__(self, trace: JobTrace, most_marks: int) -> None:
        self._trace = trace
        self.until_s = max(trace.until_s, 1e-3)
        self._each = max(24, most_marks // max(1, len(trace.lanes)))
        self.marks: list[list[Any]] = []
        self.stacks: dict[str, int] = {}

    @property
    def view(self) -> tuple[float, float]:
        """Returns where to look first: a job imports for seconds before it trains, and ends soon after it failed."""
        firsts = (span for lane in self._trace.lanes for span in (lane.steps[:1] or lane.calls[:1]))
        began = [span.began_s for span in firsts]
        first = self.x(min(began, default=0.0) - 0.02 * self.until_s)
        return (round(first, 2), round(WIDTH - first, 2)) if WIDTH - first > 1 else (0.0, WIDTH)

    def x(self, seconds: float) -> float:
        return round(WIDTH * min(max(seconds / self.until_s, 0.0), 1.0), 2)

    def mark(self, lane: int, text: str, stack: Sequence[str] = ()) -> int:
        """Returns the number of a new mark."""
        place = self.stacks.setdefault("\n".join(stack), len(self.stacks)) if stack else -1
        self.marks.append([lane, text, place])
        return len(self.marks) - 1

    def lane(self, number: int, lane: Lane) -> DrawnLane:
        shapes = list(self._steps(number, lane.steps, self._each // 8))
        shapes += self._calls(number, lane, self._each // 4)
        for one in lane.moments[-self._each // 8 :]:
            text = f"{one.text}, at {_seconds(one.at_s)}"
            shapes.append(Shape(style=f"m-{one.kind}", x=self.x(one.at_s), width=0, y=0, height=HEIGHT,
                                mark=self.mark(number, text, one.stack)))  # fmt: skip
        points, told = self._memory(lane)
        return DrawnLane(
            label=label_of(lane), role=lane.role, told=told_of(lane), shapes=shapes, memory=points, memory_told=told
        )

    def _steps(self, number: int, steps: Sequence[StepSpan], most: int) -> Iterator[Shape]:
        for group in _joined(steps, self.x, min(ALONE, most), most):
            began, ended = group[0].began_s, group[-1].ended_s
            totals = {name: sum(dict(step.phases).get(name, 0.0) for step in group) for name in PHASES}
            whole = sum(totals.values())
            if not whole:
                continue
            text = _step_text(group, totals, whole)
            mark = self.mark(number, text)
            at, width = self.x(began), self.x(ended) - self.x(began)
            for name, seconds in totals.items():
                part = round(width * seconds / whole, 2)
                if part >= 0.01:
                    yield Shape(style=f"p-{name}", x=round(at, 2), width=part, y=STEPS_Y, height=STEPS_H, mark=mark)
                at += width * seconds / whole

    def _calls(self, number: int, lane: Lane, most: int) -> Iterator[Shape]:
        until = lane.ended_s if lane.ended_s is not None else self.until_s
        for group in _joined([_Call(call, until) for call in lane.calls], self.x, min(ALONE, most), most):
            first, last = group[0].call, group[-1]
            waits = last.call.ended_s is None
            style = "c-waits" if waits else "c-failed" if last.call.failed else "c-call"
            if len(group) == 1:
                text = _call_text(first, last.ended_s - last.began_s, waits)
            else:
                text = (
                    f"{len(group)} calls, {first.shown} to {last.call.shown}, {_span(group[0].began_s, last.ended_s)}"
                )
            mark = self.mark(number, text, last.call.stack)
            x = self.x(group[0].began_s)
            width = max(self.x(last.ended_s) - x, 0.6)
            yield Shape(style=style, x=x, width=round(width, 2), y=CALLS_Y, height=CALLS_H, mark=mark)

    def _memory(self, lane: Lane) -> tuple[str, str]:
        looks = [(one.at_s, one.memory_bytes) for one in lane.usage if one.memory_bytes is not None]
        if len(looks) < 2:
            return "", ""
        most = max(value for _, value in looks) or 1.0
        apart = max(1, len(looks) // 120)
        points = " ".join(
            f"{self.x(at)},{round(MEMORY_Y + MEMORY_H * (1 - value / most), 1)}" for at, value in looks[::apart]
        )
        return points, f"own memory up to {_bytes(most)}"

    def joins(self) -> list[tuple[float, int, int, bool]]:
        """Returns the collectives that several lanes show alone, the latest ones, where they were entered last."""
        met: dict[str, list[tuple[int, CallSpan]]] = {}
        for number, lane in enumerate(self._trace.lanes):
            for call in lane.calls[-ALONE:]:
                if call.matched:
                    met.setdefault(call.meeting, []).append((number, call))
        found = []
        for calls in met.values():
            lanes = [number for number, _ in calls]
            if len(lanes) > 1:
                waits = any(call.ended_s is None for _, call in calls)
                found.append((self.x(max(call.began_s for _, call in calls)), min(lanes), max(lanes), waits))
        return sorted(found)[-400:]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call with the moment until which it is drawn."""

    call: CallSpan
    until_s: float

    @property
    def began_s(self) -> float:
        return self.call.began_s

    @property
    def ended_s(self) -> float:
        return max(self.call.began_s, self.until_s if self.call.ended_s is None else self.call.ended_s)


def _joined(spans: Sequence[Any], x: Any, alone: int, most: int) -> Iterator[list[Any]]:
    """Yields the spans in groups: the last `alone` ones each by itself, of the others those that lie close together."""
    cut = max(0, len(spans) - alone)
    close = max(CLOSE, WIDTH / max(1, most - alone))
    group: list[Any] = []
    for span in spans[:cut]:
        if group and x(span.ended_s) - x(group[0].began_s) > close:
            yield group
            group = []
        group.append(span)
    if group:
        yield group
    yield from ([span] for span in spans[cut:])


def label_of(lane: Lane) -> str:
    """Returns "rank 3" or "8 like rank 0"."""
    return f"rank {lane.rank}" if len(lane.same) < 2 else f"{len(lane.same)} like rank {lane.rank}"


def told_of(lane: Lane) -> str:
    """Returns what the lane shows, in words."""
    last = lane.calls[-1] if lane.calls else None
    waits = last is not None and last.ended_s is None
    parts = [
        f"ranks {rank_set(lane.same)}" if len(lane.same) > 1 else f"rank {lane.rank}",
        lane.role,
        f"{lane.step_count} steps" if lane.step_count else "",
        f"last module {lane.module}" if lane.module else "",
        f"{'waits in' if waits else 'last call'} {last.shown}" if last is not None else "",
        *(one.text for one in lane.moments if one.kind == "missed"),
        lane.end or "runs",
    ]
    return ", ".join(part for part in parts if part)


def _step_text(group: Sequence[StepSpan], totals: dict[str, float], whole: float) -> str:
    first, last = group[0].number, group[-1].number
    name = f"step {first}" if first == last else f"steps {first} to {last}"
    shares = [f"{phase} {100 * seconds / whole:.0f} %" for phase, seconds in totals.items() if seconds / whole >= 0.005]
    return f"{name}, {_span(group[0].began_s, group[-1].ended_s)}: {', '.join(shares)}"


def _call_text(call: CallSpan, seconds: float, waits: bool) -> str:
    of = " ".join(filter(None, (call.shape, call.dtype)))
    root = f", root {call.root}" if call.root is not None else ""
    how = "never left it" if waits else "left by an exception" if call.failed else f"{_duration(seconds)}"
    later = ", asynchronous" if call.asynchronous else ""
    what = f"{call.shown} of {of}" if of else call.shown
    return f"{what} in group {call.group}{root}: {how}, from {_seconds(call.began_s)}{later}"


def _span(began_s: float, ended_s: float) -> str:
    return f"{_duration(ended_s - began_s)} from {_seconds(began_s)}"


def _seconds(value: float) -> str:
    return f"{value:.3f} s"


def _duration(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _bytes(value: float) -> str:
    return f"{value / (1 << 30):.1f} GiB" if value >= 1 << 30 else f"{value / (1 << 20):.0f} MiB"


def _ticks(view: tuple[float, float], until_s: float) -> list[tuple[float, str]]:
    """Returns where times stand below the lanes, in percent: about six round numbers."""
    began_s, wide_s = (until_s * one / WIDTH for one in view)
    rough = wide_s / 6
    power = 10.0 ** int(f"{rough:e}".partition("e")[2])
    apart = next((power * unit for unit in (1, 2, 5, 10) if power * unit >= rough), power)
    times: Iterable[int] = range(ceil(began_s / apart), int((began_s + wide_s) / apart) + 1)
    return [(round(100 * (one * apart - began_s) / wide_s, 3), f"{one * apart:.6g} s") for one in times]
