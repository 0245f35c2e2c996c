"""What each process of a job does while nothing moves: looks from outside, kept in record/captures/samples.jsonl.

    samples = StallSamples(record_folder)
    if samples.due(at_s, since_s): samples.take(living, at_s)

It works as an ordinary user and without ptrace; then stacks are missing, and /proc has to do.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from diagnostics.core import redaction
from diagnostics.core.frame import Frame
from diagnostics.machine.deadlines import in_parallel
from diagnostics.machine.processes.proc_state import ProcessActivity, doing
from diagnostics.machine.processes.python_stacks import StacksRefusedError, find_py_spy, read_stacks
from diagnostics.machine.processes.system_calls import describe_call
from diagnostics.record.process_samples import FILE_NAME, Sample
from diagnostics.record.supervisor_facts import Missing
from diagnostics.supervisor.capture.snapshot import MOST_PROCESSES, NO_PY_SPY, keep_text

FIRST, LAST, BRIEF = 5, 20, 4  # samples of one process that are kept
EARLY_S, EARLY_EVERY_S, LATE_EVERY_S = 10.0, 2.0, 15.0
MAX_BYTES = 2 << 20
MAX_FRAMES = 64
_STACK_S = 1.0
_DEADLINE_S = 3.0
STACKS_OF_MOST = 64  # processes; of more, the first ones: ranks come first


@dataclass(slots=True)
class _Kept:
    first: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST))
    brief: deque[str] = field(default_factory=lambda: deque(maxlen=BRIEF))  # without a stack

    def add(self, line: str, *, brief: bool) -> None:
        if brief:
            self.brief.append(line)
        elif len(self.first) < FIRST:
            self.first.append(line)
        else:
            self.last.append(line)


class StallSamples:
    """The samples of one job."""

    def __init__(self, record_folder: Path) -> None:
        self._path = record_folder / "captures" / FILE_NAME
        self._kept: dict[tuple[int, int], _Kept] = {}
        self._taken_s = float("-inf")
        self._refused = ""

    def due(self, at_s: float, quiet_since_s: float) -> bool:
        """Whether it is time for the next look at a job that has been quiet since then."""
        apart = EARLY_EVERY_S if at_s - quiet_since_s <= 2 * EARLY_S else LATE_EVERY_S
        return at_s - self._taken_s >= apart

    def take(
        self, processes: Mapping[int, int], now: Callable[[], float], *, stacks: bool = True
    ) -> tuple[Missing, ...]:
        """Looks at `processes` (pid -> start ticks, ranks first) and writes the file; returns what is missing."""
        chosen = dict(list(processes.items())[:MOST_PROCESSES])
        missing: tuple[Missing, ...] = ()
        frames: Mapping[int, tuple[Frame, ...]] = {}
        if stacks:
            self._taken_s = now()
            frames, missing = self._stacks(chosen)
        for pid, start_ticks in chosen.items():
            seen = doing(pid)
            if seen is None or (start_ticks and seen.start_ticks != start_ticks):
                continue
            sample = _sample(pid, seen, round(now(), 3), frames.get(pid, ()))
            line = json.dumps(redaction.json_value(asdict(sample)), separators=(",", ":"))
            self._kept.setdefault((pid, seen.start_ticks), _Kept()).add(line, brief=not stacks)
        return missing + tuple(keep_text(self._path, self._text()))

    def forget(self) -> None:
        """Leaves out what was seen so far: the job goes on, and nobody had been told of a stall."""
        self._kept.clear()
        self._taken_s = float("-inf")

    def _stacks(self, processes: Mapping[int, int]) -> tuple[dict[int, tuple[Frame, ...]], tuple[Missing, ...]]:
        program = find_py_spy()
        if program is None or self._refused:
            return {}, (Missing(what="stacks of samples", why=self._refused or NO_PY_SPY),)

        def read(pid: int) -> tuple[Frame, ...]:
            found = read_stacks(pid, program=program, deadline_s=_STACK_S)
            main = found.threads[0].frames if found is not None and found.threads else ()
            return tuple(Frame(file=one.file, line=one.line, function=one.function) for one in main[:MAX_FRAMES])

        tasks = {pid: (lambda pid=pid: read(pid)) for pid in list(processes)[:STACKS_OF_MOST]}
        answers = in_parallel(tasks, deadline_s=_DEADLINE_S)
        refused = [str(one) for one in answers.errors.values() if isinstance(one, StacksRefusedError)]
        if refused and not answers.results:
            self._refused = f"the kernel refuses to read other processes: {refused[0]}"
            return {}, (Missing(what="stacks of samples", why=self._refused),)
        return dict(answers.results), ()

    def _text(self) -> str:
        """Returns the lines; where they are too many, of each process the latest are left out."""
        budget, lines = MAX_BYTES, []
        own = [(*kept.brief, *kept.first, *kept.last) for kept in self._kept.values()]
        for same_place in itertools.zip_longest(*own):  # the first sample of every process, then the second...
            for line in same_place:
                if line is not None and len(line) < budget:
                    budget -= len(line) + 1
                    lines.append(line)
        return "".join(f"{line}\n" for line in lines)


def _sample(pid: int, seen: ProcessActivity, at_s: float, stack: tuple[Frame, ...]) -> Sample:
    call, opened = describe_call(pid, seen.system_call)
    return Sample(
        pid=pid,
        start_ticks=seen.start_ticks,
        at_s=at_s,
        state=seen.state,
        waits_in=seen.waits_in,
        syscall=call,
        cpu_s=seen.cpu_s,
        bytes_moved=seen.bytes_moved,
        major_faults=seen.major_faults,
        swapped_bytes=seen.swapped_bytes,
        open_file=opened,
        stack=stack,
    )
