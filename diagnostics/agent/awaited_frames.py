"""Where the coroutines stand that an event loop waits for: no thread's stack holds them while they are suspended.

`asyncio.run(train())` waits in a selector and its stack ends at that line; the task it runs for stands at an `await`.
The chain is followed over awaited coroutines, generators of `async for` and of `async with`, tasks, gather(), wait(),
wait_for() and task groups. No code of the job runs.
"""

from __future__ import annotations

import gc
import itertools
import sys
import types

from .frame_values import variables_of

_RUNNERS = {"run_until_complete": "future", "run": "task"}  # functions of asyncio: the variable that holds the task
_WAITERS = {"wait_for": "fut", "_wait": "fs", "__aexit__": "self"}  # they await a future that says nothing of whom for
# What `async for` awaits of a generator, and `__await__` of a coroutine: they say of nobody whom they stand for.
_STAND_INS = frozenset(("async_generator_asend", "async_generator_athrow", "anext_awaitable", "coroutine_wrapper"))
_AWAITED = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)
_MAX_FRAMES, _MAX_LINKS = 100, 50


def awaited_by(frame):
    """Returns the suspended frames, outermost first, for which a frame of asyncio runs its loop; [] of another one."""
    name = _RUNNERS.get(frame.f_code.co_name)
    if name is None or not _is_of_asyncio(frame.f_code):
        return []
    try:
        found = list(itertools.islice(_suspended(_variable(frame, name)), _MAX_FRAMES))
    except Exception:
        return []  # an object of the job that is not what it seems: the stack alone has to do
    return found


def _suspended(future):
    """Yields the frames of what a future stands for, outermost first, and of what that waits for."""
    for _ in range(_MAX_LINKS):
        if future is None or type(future).__module__ not in ("_asyncio", "asyncio.tasks", "asyncio.futures"):
            return
        last = None
        if hasattr(future, "get_coro"):
            for last in _awaiting(future.get_coro()):
                yield last
        future = _through(last) or _unfinished(getattr(future, "_children", ())) or getattr(future, "_fut_waiter", None)


def _awaiting(awaited):
    """Yields the frames of a coroutine and of those it awaits itself."""
    for _ in range(_MAX_FRAMES):
        if isinstance(awaited, types.CoroutineType):
            frame, awaited = awaited.cr_frame, awaited.cr_await
        elif isinstance(awaited, types.GeneratorType):
            frame, awaited = awaited.gi_frame, awaited.gi_yieldfrom
        elif isinstance(awaited, types.AsyncGeneratorType):
            frame, awaited = awaited.ag_frame, awaited.ag_await
        elif type(awaited).__name__ in _STAND_INS:
            frame, awaited = None, _behind(awaited)
        else:
            return
        if frame is not None:
            yield frame


def _behind(stand_in):
    """Returns the coroutine or generator that a stand-in steps on: the interpreter tells what it refers to."""
    for one in gc.get_referents(stand_in):
        if isinstance(one, _AWAITED) or type(one).__name__ in _STAND_INS:
            return one
    return None


def _through(frame):
    """Returns the task that a function of asyncio waits for by a future of its own, None where there is none."""
    name = _WAITERS.get(frame.f_code.co_name) if frame is not None and _is_of_asyncio(frame.f_code) else None
    held = _variable(frame, name) if name is not None else None
    if name == "self":
        groups = sys.modules.get("asyncio.taskgroups")
        held = held._tasks if groups is not None and type(held) is groups.TaskGroup else ()
    return _unfinished(held if isinstance(held, (set, frozenset, list)) else (held,))


def _unfinished(futures):
    return next((one for one in list(futures) if one is not None and not one.done()), None)


def _variable(frame, name):
    return next((value for known, value in variables_of(frame) if known == name), None)


def _is_of_asyncio(code):
    return "/asyncio/" in code.co_filename.replace("\\", "/")
