"""What a process waits for after its work is done: a thread, a child, an exit handler, a queue, a teardown. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.analysis.agent_facts import Event, Frame
from diagnostics.analysis.blame import distinct
from diagnostics.analysis.case import Case, ProcessStory
from diagnostics.analysis.process_tree import words
from diagnostics.analysis.try_blocks import spans
from diagnostics.analysis.user_code import telling_frames, user_frames

GROUP_ENDED, GROUP_ENDING = "process-group-end", "process-group-end-begin"
# Functions of the standard library that only an interpreter on its way out calls.
_LEAVING = (
    ("/threading.py", "_shutdown"),
    ("/concurrent/futures/thread.py", "_python_exit"),
    ("/concurrent/futures/process.py", "_python_exit"),
    ("/multiprocessing/util.py", "_exit_function"),
    ("/weakref.py", "finalize._exitfunc"),
    ("/logging/__init__.py", "shutdown"),
)
# What a program calls to end something that ran beside its training.
_CLOSES = re.compile(
    r"(?:^|[._])(?:finish|close|join|flush|shutdown|terminate|stop|wait|teardown|cleanup|clean_up|end_training|sync"
    r"|result|finalize|__exit__|__del__|aclose|drain|disconnect|quit|end|done|upload|publish)\w*$"
)
_QUEUES = re.compile(r"\b(?:Joinable|Simple)?Queue\(|\.Manager\(")


class Reason(StrEnum):
    """What holds a process up."""

    THREAD = "thread"
    POOL = "pool"
    CHILD = "child"
    FEEDER = "feeder"  # the thread that writes what was put into a multiprocessing queue
    HANDLER = "handler"  # atexit
    LOADER = "loader"
    DESTROY = "destroy"
    NATIVE = "native"  # after the last line of Python
    PROGRAM = "program"  # its own last lines: tracker.finish(), writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdup:
    """Why a process that did all its work does not end. Locations are best first: made, then where it stands."""

    story: ProcessStory
    reason: Reason
    name: str  # of the thread, handler, child; "" unknown
    made: tuple[str, ...]
    stands: tuple[str, ...]
    sure: bool

    @property
    def locations(self) -> tuple[str, ...]:
        """The line that made it, then those where it and the process stand."""
        return distinct([*self.made, *self.stands])


def holdup(case: Case, story: ProcessStory) -> Holdup | None:
    """Returns what keeps `story` from ending after its work; None where it has work left, or nothing tells."""
    if story.agent is None or not still_there(story):
        return None
    main = story.stacks[0] if story.stacks else ()
    if not main:
        return _native(case, story) if story.agent.last_event("exit") is not None else None
    for find in (_feeder, _child, _thread, _handler, _loader, _destroy, _program):
        found = find(case, story, main)
        if found is not None:
            return found
    return None


def orphans(case: Case) -> tuple[tuple[ProcessStory, ProcessStory, tuple[str, ...]], ...]:
    """Returns what outlives the rank that started it: the process, its rank, and the lines that started it."""
    found = []
    for rank in case.ranks:
        if still_there(rank):
            continue
        started = {words(event.text).get("pid", ""): event for event in _events(rank, "child")}
        for one in case.processes:
            event = started.get(str(one.pid))
            if event is not None and one.parent_pid == rank.pid and still_there(one):
                found.append((one, rank, _lines(case, rank, event.path)))
    return tuple(found)


def done_s(case: Case, story: ProcessStory) -> float:
    """Returns when a process was last seen at its work, in seconds since the job started: a step, its group's end."""
    if story.agent is None:
        return float("inf")
    ended = [event.seconds for event in _events(story, GROUP_ENDED)]
    last = max([*ended, story.agent.steps.last_s or 0.0])
    return (story.agent.started_ns - case.job.started_ns) / 1e9 + last


def still_there(story: ProcessStory) -> bool:
    """Whether it had not ended when the job was ended by the doctor, or looked at."""
    return story.ended_by == "doctor" or (story.end.exit_code is None and story.end.signal is None)


def is_leaving(story: ProcessStory) -> bool:
    """Whether the interpreter of a process is on its way out."""
    main = story.stacks[0] if story.stacks else ()
    ended = story.agent is not None and story.agent.last_event("exit", "alive-at-end") is not None
    return ended or any(_is(frame, *one) for frame in main for one in _LEAVING) or _handler_name(story, main) != ""


def _feeder(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    if not any(_is(frame, "/multiprocessing/queues.py", "_finalize_join") for frame in main):
        return None
    made = [line for line, text in _own_lines(case, story) if _QUEUES.search(text)]
    puts = [line for line, text in _own_lines(case, story) if ".put(" in text]
    return Holdup(
        story=story, reason=Reason.FEEDER, name="", made=tuple(made[:1]), stands=distinct([*puts, *made]), sure=True
    )


def _child(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    if not any(_is(frame, "/multiprocessing/util.py", "_exit_function") for frame in main):
        return None
    if not any(frame.function.endswith("join") for frame in main):
        return None
    alive = [one for one in case.children_of(story) if still_there(one)]
    started = {int(words(event.text).get("pid", "0")): event for event in _events(story, "child")}
    child = next((one for one in alive if one.pid in started), None)
    if child is None:
        return None
    event = started[child.pid]
    return Holdup(
        story=story,
        reason=Reason.CHILD,
        name=event.text.partition(" | ")[2].rpartition(" ")[2].removeprefix("__main__."),
        made=distinct([*made_by_start(case, _user(story, event.path)), *_lines(case, story, event.path)[:2]]),
        stands=_lines(case, child, child.stacks[0])[:1] if child.stacks else (),
        sure=True,
    )


def _thread(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    pool = any(frame.function == "_python_exit" for frame in main)
    if not pool and not any(_is(frame, "/threading.py", "_shutdown") for frame in main):
        return None
    alive = _events(story, "alive-at-end")
    others = [stack for stack in story.stacks[1:] if not _is_agents(case, stack)]
    targets = {event.path: event.text.rpartition(" ")[2].rpartition(".")[2] for event in _events(story, "thread")}
    # Of several that were alive when the interpreter began to leave, those whose function still runs.
    running = [event for event in alive if _runs(targets.get(event.path, ""), others)]
    chosen = running or alive
    standing = [lines for stack in others if (lines := _lines(case, story, stack))]
    if pool:
        standing = [lines for stack in others if _in_pool(stack) and (lines := _lines(case, story, stack))] or standing
    if not chosen and not standing:
        return None
    built = [line for event in chosen for line in made_by_start(case, _user(story, event.path))]
    made = distinct([*built, *(line for event in chosen for line in _lines(case, story, event.path)[:1])])
    return Holdup(
        story=story,
        reason=Reason.POOL if pool else Reason.THREAD,
        name=", ".join(dict.fromkeys(event.text.partition(" | ")[2] for event in chosen)),
        made=made,
        stands=distinct([lines[0] for lines in standing]),
        sure=bool(made),
    )


def _handler(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    name = _handler_name(story, main)
    if not name:
        return None
    event = next(e for e in reversed(_events(story, "atexit")) if e.text == name)
    return Holdup(
        story=story,
        reason=Reason.HANDLER,
        name=name.removeprefix("__main__."),
        made=_lines(case, story, event.path)[:1],
        stands=_lines(case, story, main)[:1],
        sure=True,
    )


def _loader(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    if not any(frame.function.rpartition(".")[2] in ("_shutdown_workers", "_clean_up_worker") for frame in main):
        return None
    made = _events(story, "dataloader", "dataloader-begin")
    return Holdup(
        story=story,
        reason=Reason.LOADER,
        name="",
        made=distinct([line for event in made[-1:] for line in _lines(case, story, event.path)[:1]]),
        stands=_lines(case, story, main)[:1],
        sure=is_leaving(story),
    )


def _destroy(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    inside = any(frame.function.rpartition(".")[2] == "destroy_process_group" for frame in main)
    if not inside:
        return None
    return Holdup(story=story, reason=Reason.DESTROY, name="", made=_lines(case, story, main)[:1], stands=(), sure=True)


def _program(case: Case, story: ProcessStory, main: Sequence[Frame]) -> Holdup | None:
    """Its own last lines: after it left its process group, or outside of every loop in what closes something."""
    own = _user(story, main)
    if not own or not (story.steps or _after_its_group(story)):
        return None
    if is_leaving(story):
        return _held(case, story, own, sure=True)
    closing = [one for one in main if _CLOSES.search(one.function.rpartition(".")[2]) or _calls_close(case, one)]
    if _after_its_group(story):
        return _held(case, story, own, sure=bool(closing))
    if _has_group(story) or not closing or any(_in_loop(case, frame) for frame in own[1:] or own):
        return None
    return _held(case, story, own, sure=False)


def _held(case: Case, story: ProcessStory, own: Sequence[Frame], *, sure: bool) -> Holdup:
    lines = distinct([case.line(frame) for frame in own])
    return Holdup(story=story, reason=Reason.PROGRAM, name=own[0].function, made=lines[:1], stands=lines[1:], sure=sure)


def _native(case: Case, story: ProcessStory) -> Holdup:
    groups = _events(story, "process-group")
    left = bool(_events(story, GROUP_ENDED))
    made = () if left else distinct([line for event in groups[-1:] for line in _lines(case, story, event.path)[:1]])
    return Holdup(story=story, reason=Reason.NATIVE, name="", made=made, stands=(), sure=False)


def _after_its_group(story: ProcessStory) -> bool:
    """Whether it left its process group, and neither made one nor asked it anything since."""
    if story.agent is None:
        return False
    ended = story.agent.last_event(GROUP_ENDED)
    begun = story.agent.last_event("process-group-begin")
    if ended is None or (begun is not None and begun.sequence > ended.sequence):
        return False
    return all(call.sequence < ended.sequence for call in story.agent.collectives)


def _has_group(story: ProcessStory) -> bool:
    return bool(_events(story, "process-group")) and not _after_its_group(story)


def _handler_name(story: ProcessStory, main: Sequence[Frame]) -> str:
    """Returns the exit handler that runs: nothing of the program is below it on the stack."""
    own = _user(story, main)
    if not own or any(frame.function == "<module>" for frame in main):
        return ""
    names = [event.text for event in _events(story, "atexit")]
    return next((name for name in reversed(names) if _named(own[-1].function, name)), "")


def _named(function: str, dotted_name: str) -> bool:
    """Whether a frame runs "module.Class.function"; py-spy of older Pythons tells the last part only."""
    return dotted_name.endswith(f".{function}") or dotted_name.rpartition(".")[2] == function


def _runs(function: str, stacks: Sequence[Sequence[Frame]]) -> bool:
    return any(frame.function.rpartition(".")[2] == function for stack in stacks for frame in stack)


def _in_pool(stack: Sequence[Frame]) -> bool:
    return any(frame.file.endswith("/concurrent/futures/thread.py") for frame in stack)


def _is_agents(case: Case, stack: Sequence[Frame]) -> bool:
    return not stack or all(frame.file.startswith(tuple(case.agent_folders)) for frame in stack)


def _calls_close(case: Case, frame: Frame) -> bool:
    """Whether the line calls something that closes: `run.finish()` that was entered by no Python of its own."""
    lines = case.sources.file(frame.file).lines
    text = lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""
    return any(_CLOSES.search(name) for name in re.findall(r"([\w.]+)\(", text))


def _in_loop(case: Case, frame: Frame) -> bool:
    source = case.sources.file(frame.file)
    function = source.function_at(frame.line)
    nodes = function.body if function is not None else source.tree.body if source.tree is not None else []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if not spans(node, frame.line):
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return True
        waiting.extend(one for one in getattr(node, "body", []))
        waiting.extend(one for name in ("orelse", "finalbody", "handlers") for one in getattr(node, name, []))
    return False


def made_by_start(case: Case, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the line that made what the innermost frame starts: `t = Thread(...)` of `t.start()`; () elsewhere."""
    if not path:
        return ()
    source = case.sources.file(path[0].file)
    nodes = list(ast.walk(source.tree)) if source.tree is not None else []
    started = {
        ast.unparse(node.func.value)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "start"
        if spans(node, path[0].line) and not isinstance(node.func.value, ast.Call)
    }
    made = [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if any(ast.unparse(target) in started for target in node.targets)
    ]
    near = max((line for line in made if line <= path[0].line), default=max(made, default=None))
    return () if near is None else (case.line(Frame(file=path[0].file, line=near, function="")),)


def _own_lines(case: Case, story: ProcessStory) -> list[tuple[str, str]]:
    """Returns (location, text) of the lines of the user's files in this process's call paths."""
    agent = story.agent
    events = agent.events if agent is not None else ()
    files = dict.fromkeys(frame.file for event in events for frame in _user(story, event.path))
    found = []
    for file in files:
        for number, text in enumerate(case.sources.file(file).lines, 1):
            if not text.lstrip().startswith(("#", "import ", "from ")):
                found.append((case.line(Frame(file=file, line=number, function="")), text))
    return found


def _lines(case: Case, story: ProcessStory, path: Sequence[Frame]) -> tuple[str, ...]:
    return tuple(case.line(frame) for frame in _user(story, path))


def _user(story: ProcessStory, path: Sequence[Frame]) -> tuple[Frame, ...]:
    folder = story.agent.agent_folder if story.agent is not None else ""
    found = user_frames(telling_frames(path, [folder] if folder else []), agent_folder=folder)
    return tuple(frame for frame in found if not frame.file.startswith("<"))


def _events(story: ProcessStory, *kinds: str) -> list[Event]:
    return [event for event in story.agent.events if event.kind in kinds] if story.agent is not None else []


def _is(frame: Frame, file: str, function: str) -> bool:
    return frame.file.endswith(file) and frame.function.rpartition(".")[2] == function.rpartition(".")[2]
