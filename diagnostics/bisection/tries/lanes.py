"""Ranks for tries side by side: each lane has a warm child of its own, the first one is the machine's."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from diagnostics.bisection.case import Configuration
from diagnostics.machine.contract import Ranks

MOST_LANES = 8
WORTH_A_WARM_CHILD = 3  # tries at once: it takes seconds to start one more
T = TypeVar("T")


class Lanes:
    """Ranks that run at the same time. All are started in the thread that asks: the kernel ends them with it."""

    def __init__(self, first: Ranks, another: Callable[[], Ranks], *, jobs: int | None, cores: float) -> None:
        """`jobs` is how many the user wants, None for as many as the cores have room for."""
        self._ranks = [first]
        self._another, self._jobs, self._cores = another, jobs, cores

    def warmed(self) -> Ranks:
        """Returns the first lane's ranks, their warm child started."""
        self._ranks[0].warm(for_modules=True)
        return self._ranks[0]

    def room_for(self, cases: Sequence[Configuration]) -> int:
        """Returns how many of these cases run side by side."""
        if len(cases) < WORTH_A_WARM_CHILD and len(cases) > len(self._ranks):
            return len(self._ranks)
        busy = max((case.settings.world * case.settings.threads for case in cases), default=1)
        wanted = self._jobs or max(1, int(self._cores // busy))
        return min(wanted, MOST_LANES, len(cases))

    def run(self, tasks: Sequence[Callable[[Ranks], T]], lanes: int, starts: Callable[[int], None]) -> Iterator[T]:
        """Yields the results in the order of the tasks; `starts` is told of each task that begins.

        What a task raises is raised here. On that, and on Ctrl-C, all ranks are ended.
        """
        while len(self._ranks) < lanes:
            self._ranks.append(self._another())
        done: queue.SimpleQueue[tuple[int, int, T | BaseException]] = queue.SimpleQueue()
        free, waiting, results = list(range(lanes)), list(range(len(tasks))), dict[int, T]()
        try:
            for number in range(len(tasks)):
                while number not in results:
                    while free and waiting:
                        task, lane = waiting.pop(0), free.pop(0)
                        starts(task)
                        self._start(tasks[task], task, lane, done)
                    task, lane, result = done.get()
                    free.append(lane)
                    if isinstance(result, BaseException):
                        raise result
                    results[task] = result
                yield results[number]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends every warm child and its ranks; the first one starts again when it is used again."""
        for ranks in self._ranks:
            ranks.close()
        del self._ranks[1:]

    def _start(
        self,
        task: Callable[[Ranks], T],
        number: int,
        lane: int,
        done: queue.SimpleQueue[tuple[int, int, T | BaseException]],
    ) -> None:
        ranks = self._ranks[lane]
        ranks.warm(for_modules=True)  # here, not in the thread below: it ends with the task

        def work() -> None:
            try:
                done.put((number, lane, task(ranks)))
            except BaseException as error:
                done.put((number, lane, error))

        threading.Thread(target=work, daemon=True).start()
