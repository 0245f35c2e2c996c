"""Asks rules in forked processes: they share the syntax trees, and one that dies takes one answer with it.

What one rule works out about a project the next one of its kind needs, too. So a process takes all rules of a unit, and
then the next unit: those that ask what the project's programs do when they are run are one, since running them takes
longest and would be done again in each process; of the others, those whose codes begin alike. It says which rule it
asks about which file before it does, and what came of it after; a line of JSON each.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

from diagnostics.audit import wire
from diagnostics.audit.found import Crash, Found
from diagnostics.static.program.project_file import ProjectFile

Task: TypeAlias = tuple[str, ProjectFile]  # the code of a rule, and a file to ask it about
Answer: TypeAlias = tuple[list[Found], list[Crash]]
Ask: TypeAlias = Callable[[str, ProjectFile], Answer]
ENOUGH = 2_000_000  # characters to ask about; less is done before a second process has begun
MOST_DEATHS = 3  # of a rule that kills the process; then it is asked no more
LONGEST = "A2"  # rules about collectives follow ranks through the whole project: they begin


def pays(tasks: Sequence[Task]) -> bool:
    """Returns whether there is so much to ask that processes of their own are worth it."""
    return sum({file.shown: len(file.text) for _, file in tasks}.values()) > ENOUGH


def answers(tasks: Sequence[Task], ask: Ask, jobs: int, running: Container[str] = ()) -> Iterator[Answer]:
    """Yields what `ask` answers, from `jobs` processes. `running`: codes of rules about programs that are run."""

    def unit(task: Task) -> tuple[int, str]:
        code = task[0]
        return (0, "") if code in running else (1 if code.startswith(LONGEST) else 2, code[:3])

    in_order = sorted(tasks, key=lambda task: (unit(task), task[0]))
    units = [list(several) for _, several in groupby(in_order, key=unit)]
    with _Pool(units, ask) as pool:
        for _ in range(min(jobs, len(units))):
            pool.start([])
        yield from pool.answers({file.shown: file for _, file in tasks})


class _Pool:
    """The processes at work, and the pipe from which they take the numbers of units."""

    def __init__(self, units: list[list[Task]], ask: Ask) -> None:
        self.units = units
        self.ask = ask
        self.deaths: Counter[str] = Counter()
        self.streams = selectors.DefaultSelector()
        self.numbers, writing = os.pipe()
        os.write(writing, bytes(range(len(units))))
        os.close(writing)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self.streams.get_map().values()):
            key.data.kill()
        self.streams.close()
        os.close(self.numbers)

    def start(self, first: list[Task]) -> None:
        """Starts a process that does `first` and then takes units."""
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            self._work(writing, first)
        os.close(writing)
        self.streams.register(reading, selectors.EVENT_READ, _Worker(pid=pid, stream=reading, tasks=first))

    def answers(self, files: Mapping[str, ProjectFile]) -> Iterator[Answer]:
        """Yields answers until all processes have ended."""
        while self.streams.get_map():
            for key, _ in self.streams.select():
                worker: _Worker = key.data
                for line in worker.read():
                    body = json.loads(line)
                    if isinstance(body, int):
                        worker.tasks, worker.begun = self.units[body], 0
                    elif body is None:
                        worker.begun += 1
                    else:
                        found = [wire.found_from(one, files) for one in body["found"]]
                        yield found, [wire.crash_from(one) for one in body["crashed"]]
                if worker.ended:
                    self.streams.unregister(key.fd)
                    code = worker.close()
                    if code:
                        yield [], [self._after(worker, code)]

    def _after(self, worker: _Worker, code: int) -> Crash:
        """Goes on behind the question that a process died of."""
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        (rule, file), left = worker.tasks[worker.begun - 1], worker.tasks[worker.begun :]
        self.deaths[rule] += 1
        told = f"the process that asked it ended with {how}"
        if self.deaths[rule] >= MOST_DEATHS:
            left = [task for task in left if task[0] != rule]
            told += ", as before: it is asked no more"
        self.start(left)
        return Crash(code=rule, path=file.shown, reason=told)

    def _work(self, stream: int, first: list[Task]) -> None:
        """Answers, and ends the process whatever happens: nothing of the parent's may run twice."""
        code = 1
        try:
            with os.fdopen(stream, "wb") as out:
                self._ask_all(first, out)
                while number := os.read(self.numbers, 1):
                    _say(out, number[0])
                    self._ask_all(self.units[number[0]], out)
            code = 0
        finally:
            os._exit(code)

    def _ask_all(self, tasks: list[Task], out: Any) -> None:
        for rule, file in tasks:
            _say(out, None)
            found, crashed = self.ask(rule, file)
            if found or crashed:
                _say(out, {"found": [*map(wire.found_json, found)], "crashed": [*map(wire.crash_json, crashed)]})


@dataclass(slots=True)
class _Worker:
    """One process as the parent sees it: `begun` of its tasks."""

    pid: int
    stream: int
    tasks: list[Task]
    begun: int = 0
    ended: bool = False
    rest: bytes = field(default=b"")

    def read(self) -> list[bytes]:
        """Returns the whole lines that have come."""
        data = os.read(self.stream, 1 << 20)
        self.ended = not data
        *lines, self.rest = (self.rest + data).split(b"\n")
        return lines

    def close(self) -> int:
        """Returns how the process ended: its exit code, or minus the signal."""
        os.close(self.stream)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self) -> None:
        """Ends the process."""
        os.kill(self.pid, signal.SIGKILL)
        self.close()


def _say(out: Any, body: Any) -> None:
    out.write(json.dumps(body).encode() + b"\n")
    out.flush()
