"""Where suspended coroutines stand, asked for from another thread while the event loop waits."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any

import pytest

from diagnostics.agent.awaited_frames import awaited_by

DEADLINE_S = 60


async def waits(until: asyncio.Event) -> None:
    await until.wait()


async def gathers(until: asyncio.Event) -> None:
    await asyncio.gather(asyncio.sleep(0), waits(until))


async def has_a_task(until: asyncio.Event) -> None:
    await asyncio.create_task(waits(until))


async def waits_for_one_of_several(until: asyncio.Event) -> None:
    await asyncio.wait([asyncio.create_task(waits(until))])


async def is_patient(until: asyncio.Event) -> None:
    await asyncio.wait_for(waits(until), DEADLINE_S)


async def groups(until: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(waits(until))


async def yields(until: asyncio.Event) -> AsyncIterator[int]:
    yield 1
    await waits(until)
    yield 2


async def loops(until: asyncio.Event) -> None:
    async for _ in yields(until):
        pass


async def takes_the_next(until: asyncio.Event) -> None:
    batches = yields(until)
    while await anext(batches, 0) != 2:
        pass


@contextlib.asynccontextmanager
async def opens(until: asyncio.Event) -> AsyncIterator[None]:
    await waits(until)
    yield


async def enters(until: asyncio.Event) -> None:
    async with opens(until):
        pass


class Closes:
    def __init__(self, until: asyncio.Event) -> None:
        self.until = until

    async def __aenter__(self) -> None:
        return

    async def __aexit__(self, *_: object) -> None:
        await waits(self.until)


async def leaves(until: asyncio.Event) -> None:
    async with Closes(until):
        pass


class Handle:
    def __init__(self, until: asyncio.Event) -> None:
        self.until = until

    def __await__(self) -> Generator[Any, Any, None]:
        return waits(self.until).__await__()


async def awaits_an_object(until: asyncio.Event) -> None:
    await Handle(until)


def seen_from_outside(main: Callable[[asyncio.Event], Awaitable[None]]) -> list[str]:
    """Returns the functions of this file in which a loop's coroutines stand, outermost first, once it is idle."""
    asked, told = threading.Event(), []

    def look(ident: int, end: Callable[[], None]) -> None:
        asked.wait(DEADLINE_S)
        frame = sys._current_frames()[ident]
        while frame is not None:
            told.append([one.f_code.co_name for one in awaited_by(frame) if one.f_code.co_filename == __file__])
            frame = frame.f_back
        end()

    async def run() -> None:
        until, loop = asyncio.Event(), asyncio.get_running_loop()
        thread = threading.Thread(
            target=look, args=(threading.get_ident(), lambda: loop.call_soon_threadsafe(until.set))
        )
        thread.start()
        for turns in range(20):  # the coroutines have come to their waits by then; each turn moves all that can move
            loop.call_later(turns / 1000, lambda: None)
        loop.call_later(0.05, asked.set)
        await main(until)
        thread.join()

    asyncio.run(run())
    found = [one for one in told if one]
    assert all(one == found[0] for one in found)
    return [name for name in found[0] if name != "run"]


needs_groups = pytest.mark.skipif(not hasattr(asyncio, "TaskGroup"), reason="task groups came with Python 3.11")


@pytest.mark.parametrize(
    ("main", "names"),
    [
        (waits, ["waits"]),
        (gathers, ["gathers", "waits"]),
        (has_a_task, ["has_a_task", "waits"]),
        (waits_for_one_of_several, ["waits_for_one_of_several", "waits"]),
        (is_patient, ["is_patient", "waits"]),
        (loops, ["loops", "yields", "waits"]),
        (takes_the_next, ["takes_the_next", "yields", "waits"]),
        (enters, ["enters", "opens", "waits"]),
        (leaves, ["leaves", "__aexit__", "waits"]),
        (awaits_an_object, ["awaits_an_object", "waits"]),
        pytest.param(groups, ["groups", "waits"], marks=needs_groups),
    ],
)
def test_the_coroutines_that_a_loop_runs_for_are_found(main: Callable[..., Awaitable[None]], names: list[str]) -> None:
    assert seen_from_outside(main) == names


def test_a_frame_that_runs_no_loop_waits_for_no_coroutine() -> None:
    def run(task: object) -> list[object]:  # the names are those of asyncio's runner, the file is not
        return awaited_by(sys._getframe())

    assert run(object()) == []


def test_what_is_no_task_is_left_alone() -> None:
    class Impostor:
        def get_coro(self) -> None:
            raise AssertionError("code of the job ran")

    scope = {"Impostor": Impostor, "found": []}
    code = compile(
        "import sys\ndef run(task):\n    found.append(sys._getframe())\nrun(Impostor())",
        "/lib/asyncio/runners.py",
        "exec",
    )
    types.FunctionType(code, scope)()
    assert [awaited_by(frame) for frame in scope["found"]] == [[]]
