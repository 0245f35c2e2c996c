"""Asks rules in forked processes: they share the syntax trees, and one that dies takes one file with it, not the audit.

A worker says which rule it asks about which file before it does, and what came of it after; a line of JSON each.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.audit import wire
from diagnostics.audit.found import Crash, Found

Task: TypeAlias = tuple[AuditedFile, list[str]]  # a file and the codes of the rules to ask about it
Answer: TypeAlias = tuple[list[Found], list[Crash]]
Ask: TypeAlias = Callable[[AuditedFile, str], Answer]
ENOUGH = 2_000_000  # characters to ask about; less is done before a second process has begun


def pays(tasks: Sequence[Task]) -> bool:
    """Returns whether there is so much to ask that processes of their own are worth it."""
    return sum(len(file.text) * bool(codes) for file, codes in tasks) > ENOUGH


def answers(tasks: Sequence[Task], ask: Ask, jobs: int) -> Iterator[Answer]:
    """Yields what `ask` answers about each task, from `jobs` processes."""
    files = {file.shown: file for file, _ in tasks}
    large_first = sorted((task for task in tasks if task[1]), key=lambda task: -len(task[0].text))
    pool = selectors.DefaultSelector()
    try:
        for number in range(jobs):
            _start(pool, large_first[number::jobs], ask)
        while pool.get_map():
            for key, _ in pool.select():
                worker: _Worker = key.data
                for line in worker.read():
                    yield from _answer(worker, json.loads(line), files)
                if worker.ended:
                    pool.unregister(key.fd)
                    yield from _after(worker.close(), worker, pool, ask)
    finally:
        for key in list(pool.get_map().values()):
            key.data.kill()
        pool.close()


@dataclass(slots=True)
class _Worker:
    """One process with what it still has to do; `now` is the file and rule it is at."""

    pid: int
    stream: int
    tasks: list[Task]
    now: tuple[str, str] = ("", "")
    done: int = 0
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


def _start(pool: selectors.BaseSelector, tasks: list[Task], ask: Ask) -> None:
    if not tasks:
        return
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _work(writing, tasks, ask)
    os.close(writing)
    pool.register(reading, selectors.EVENT_READ, _Worker(pid=pid, stream=reading, tasks=tasks))


def _work(stream: int, tasks: list[Task], ask: Ask) -> None:
    """Answers, and ends the process whatever happens: nothing of the parent's may run twice."""
    code = 1
    try:
        with os.fdopen(stream, "wb") as out:
            for file, codes in tasks:
                for rule in codes:
                    _say(out, [file.shown, rule])
                    found, crashed = ask(file, rule)
                    if found or crashed:
                        _say(
                            out, {"found": [*map(wire.found_json, found)], "crashed": [*map(wire.crash_json, crashed)]}
                        )
                _say(out, None)
        code = 0
    finally:
        os._exit(code)


def _say(out: Any, body: Any) -> None:
    out.write(json.dumps(body).encode() + b"\n")
    out.flush()


def _answer(worker: _Worker, body: Any, files: dict[str, AuditedFile]) -> Iterator[Answer]:
    if body is None:
        worker.done += 1
    elif isinstance(body, list):
        worker.now = (body[0], body[1])
    else:
        found = [wire.found_from(one, files) for one in body["found"]]
        yield found, [wire.crash_from(one) for one in body["crashed"]]


def _after(code: int, worker: _Worker, pool: selectors.BaseSelector, ask: Ask) -> Iterator[Answer]:
    """Goes on behind the rule that a worker died of."""
    if worker.done == len(worker.tasks):
        return
    (file, codes), *others = worker.tasks[worker.done :]
    path, rule = worker.now if worker.now[0] == file.shown else (file.shown, codes[0])
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    yield [], [Crash(code=rule, path=path, reason=f"the process that asked it ended with {how}")]
    left = codes[codes.index(rule) + 1 :]
    _start(pool, [*([(file, left)] if left else []), *others], ask)
