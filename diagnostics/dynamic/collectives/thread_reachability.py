"""Whether a thread that runs beside the main thread may still make a call of torch.distributed. Pure; conservative.

Its stack tells in which functions of the project it is; their sources, and those of what they call, tell whether an
operation of a group lies ahead. What cannot be read or resolved may be one. Threads of packages count where they are
torch.distributed's own, or where their file speaks of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job import stack_classifier
from diagnostics.record.stacks import ThreadFrames
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function
from diagnostics.static.program.cfg_expressions import dotted
from diagnostics.static.program.distributed_names import is_distributed_call, names_of_distributed
from diagnostics.static.program.source_file import SourceFile, SourceStore

MOST_FUNCTIONS = 400
_HARMLESS = frozenset(
    ("get_rank", "get_world_size", "is_initialized", "is_available", "get_backend", "get_process_group_ranks")
)
_UNDOUBTED = frozenset(operations.UNMISTAKABLE) | {"backward"}
_STDLIB = re.compile(r"/lib/python3\.\d+/(?!(?:site|dist)-packages/)|^<frozen ")
_IN_PACKAGES = re.compile(r"/(?:site|dist)-packages/")
# What runs the job's own code later, and shows nothing of it on the stack yet.
_TIMER = re.compile(r"/threading\.py$")
_LOOP = re.compile(r"/asyncio/base_events\.py$|/sched\.py$")
_NAMED = re.compile(r"\btorch\.distributed\b|\bfrom torch import .*\bdistributed\b")


class ThreadReachability:
    """Answers for the threads of one job."""

    def __init__(self, sources: SourceStore, agent_folders: Collection[str], main: Iterable[Frame]) -> None:
        self._sources, self._folders = sources, tuple(folder for folder in agent_folders if folder)
        self._main = tuple(dict.fromkeys(frame.file for frame in main if self._is_own(frame)))
        self._programs: dict[tuple[str, ...], CallGraph] = {}
        self._known: dict[tuple[tuple[str, int, str], ...], bool] = {}

    def runs_project_code(self, thread: ThreadFrames) -> bool:
        """Whether code of the project is on its stack, or may come there by a timer or an event loop."""
        return any(map(self._is_own, thread.frames)) or self._runs_later(thread.frames)

    def may_call(self, thread: ThreadFrames) -> bool:
        """Whether it may come to an operation of a group."""
        key = tuple((frame.file, frame.line, frame.function) for frame in thread.frames)
        if key not in self._known:
            self._known[key] = self._may_call(thread.frames)
        return self._known[key]

    def _may_call(self, frames: tuple[Frame, ...]) -> bool:
        frames = tuple(frame for frame in frames if not frame.file.startswith(self._folders))
        if any(stack_classifier.IN_DISTRIBUTED.search(frame.file) for frame in frames):
            return True
        packaged = {frame.file for frame in frames if _IN_PACKAGES.search(frame.file)}
        own = [frame for frame in user_frames(frames) if self._is_own(frame)]
        if any("/torch/" not in file and _names_distributed(self._sources.file(file)) for file in packaged):
            return True
        if not own and not self._runs_later(frames):
            return False
        program = self._program((*self._main, *(frame.file for frame in own)))
        if not own:
            begun = [one for call, inside in _later(program) for one in _handed_over(call, inside, program)]
            return not begun or self._reaches(begun, program)
        functions = [program.function_of(frame) for frame in own]
        return any(one is None for one in functions) or self._reaches([one for one in functions if one], program)

    def _is_own(self, frame: Frame) -> bool:
        outside = _STDLIB.search(frame.file) or _IN_PACKAGES.search(frame.file)
        return not outside and not frame.file.startswith(self._folders)

    def _runs_later(self, frames: tuple[Frame, ...]) -> bool:
        def at(frame: Frame, pattern: re.Pattern[str], names: tuple[str, ...]) -> bool:
            return pattern.search(frame.file) is not None and frame.function.rpartition(".")[2] in names

        in_timer = [i for i, frame in enumerate(frames) if at(frame, _TIMER, ("run",))]
        waits = any(at(frame, _TIMER, ("wait",)) for frame in frames[: in_timer[0]]) if in_timer else False
        plain = bool(frames) and all(_TIMER.search(frame.file) for frame in frames)
        return (waits and plain) or any(at(frame, _LOOP, ("run_forever", "run")) for frame in frames)

    def _program(self, files: tuple[str, ...]) -> CallGraph:
        files = tuple(dict.fromkeys(files))
        if files not in self._programs:
            self._programs[files] = CallGraph(self._sources, files)
        return self._programs[files]

    def _reaches(self, first: list[Function], program: CallGraph) -> bool:
        waiting, seen = list(first), set(first)
        while waiting:
            function = waiting.pop()
            names = names_of_distributed(function.source.tree) if function.source.tree is not None else frozenset()
            for call in (node for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call)):
                if _is_operation(call, names) or _calls_unknown(call, function, program):
                    return True
                for one in (*program.targets(call, function), *_handed_over(call, function, program)):
                    if one not in seen:
                        seen.add(one)
                        waiting.append(one)
            if len(seen) > MOST_FUNCTIONS:
                return True
        return False


def _names_distributed(file: SourceFile) -> bool:
    """Whether the code of a file, not its comments and docstrings, names torch.distributed."""
    if file.tree is None or _NAMED.search(file.text) is None:
        return _NAMED.search(file.text) is not None
    named: list[str] = []
    for node in walk(file.tree):
        if isinstance(node, ast.Attribute):
            named.append(dotted(node))
        elif isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named += [f"{node.module}.{alias.name}" for alias in node.names]
    return any(f"{one}.".startswith("torch.distributed.") for one in named)


def _is_operation(call: ast.Call, names: frozenset[str]) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    root = dotted(call.func).partition(".")[0]
    return (
        name in _UNDOUBTED
        or is_distributed_call(call, names)
        or (bool(root) and root in names and name not in _HARMLESS and name[:1].islower())
    )


def _calls_unknown(call: ast.Call, function: Function, program: CallGraph) -> bool:
    """Whether it calls a value that somebody handed over: `task()` of a queue, a callback."""
    if not isinstance(call.func, ast.Name) or any(True for _ in program.meant(call.func, function)):
        return False
    return call.func.id in function.assigned or call.func.id in function.parameters


def _later(program: CallGraph) -> Iterator[tuple[ast.Call, Function]]:
    """Yields the calls that start what runs later."""
    for function in program.functions:
        for node in function.own_nodes:
            name = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if name in ("Timer", "call_later", "call_at", "call_soon", "call_soon_threadsafe", "enter", "enterabs",
                        "run_coroutine_threadsafe", "create_task", "ensure_future"):  # fmt: skip
                assert isinstance(node, ast.Call)  # noqa: S101 (it has a name)
                yield node, function


def _handed_over(call: ast.Call, function: Function, program: CallGraph) -> Iterator[Function]:
    """Yields the functions that a call passes on: Timer(3, save), pool.submit(self.save)."""
    for value in (*call.args, *(one.value for one in call.keywords)):
        if isinstance(value, (ast.Name, ast.Attribute, ast.Lambda)):
            yield from program.meant(value, function)
        elif isinstance(value, ast.Call):
            yield from program.targets(value, function)  # a coroutine, partial(save, 3)
