"""What a process did over several looks from outside, while its job stood still: state, CPU, bytes, innermost lines.

The supervisor keeps one JSON object a look in `record/captures/samples.jsonl`; `samples_of` reads them back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import printable

FILE_NAME = "samples.jsonl"
_MOST_LINES, _MOST_FRAMES, _MOST_TEXT = 20_000, 256, 4096
_LARGEST = 1 << 63
_NUMBERS = ("pid", "start_ticks", "bytes_moved", "major_faults", "at_s", "cpu_s")  # times last
_TEXTS = ("state", "waits_in", "syscall", "open_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One process at one moment. Times are seconds since the job started; numbers are totals since it began."""

    pid: int
    start_ticks: int
    at_s: float
    state: str  # R running, S sleeping, D disk wait, T stopped, t traced, Z zombie: as /proc has it
    waits_in: str  # kernel function (wchan), "" where it cannot be read
    syscall: str  # "read 0", "futex", "wait4 4711", "flock 5": name and first argument of its main thread; "" unknown
    cpu_s: float
    bytes_moved: int  # read and written, also over pipes and sockets
    major_faults: int  # pages read from disk: swapping
    swapped_bytes: int | None
    open_file: str  # path behind the descriptor of `syscall`, "" where it has none
    stack: tuple[Frame, ...] = ()  # of its main thread, innermost first; () not taken in this look


def samples_of(text: str, homes: Homes = NOWHERE) -> Mapping[tuple[int, int], tuple[Sample, ...]]:
    """Returns the samples in a samples.jsonl by (pid, start ticks), by time; lines that are none are left out."""
    found: defaultdict[tuple[int, int], list[Sample]] = defaultdict(list)
    for line in text.splitlines()[:_MOST_LINES]:
        sample = _sample(line, homes)
        if sample is not None:
            found[sample.pid, sample.start_ticks].append(sample)
    return {key: tuple(sorted(samples, key=lambda one: one.at_s)) for key, samples in found.items()}


def _sample(line: str, homes: Homes) -> Sample | None:
    try:
        value = untrusted_json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    numbers: dict[str, Any] = {name: value.get(name) for name in _NUMBERS}
    texts: dict[str, Any] = {name: value.get(name) for name in _TEXTS}
    swapped = value.get("swapped_bytes")
    if not (
        all(_is_number(one) for one in numbers.values())
        and all(isinstance(numbers[name], int) for name in _NUMBERS[:4])
        and all(isinstance(one, str) and len(one) <= _MOST_TEXT for one in texts.values())
        and (swapped is None or (isinstance(swapped, int) and _is_number(swapped)))
    ):
        return None
    shown: dict[str, Any] = {name: _shown(one) for name, one in texts.items()}
    return Sample(**numbers, **shown, swapped_bytes=swapped, stack=homes.kept(_frames(value.get("stack"))))


def _is_number(value: Any) -> bool:
    """Whether it is a count or a time in any reasonable range."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _shown(text: str) -> str:
    return printable(text.encode("utf-8", "replace"))


def _frames(value: Any) -> Iterator[Frame]:
    for item in value[:_MOST_FRAMES] if isinstance(value, list) else ():
        if not isinstance(item, dict):
            continue
        file, line, function = item.get("file"), item.get("line"), item.get("function")
        if isinstance(file, str) and isinstance(function, str) and isinstance(line, int):
            yield Frame(file=_shown(file), line=line, function=_shown(function))
