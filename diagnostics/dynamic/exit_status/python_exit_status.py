"""What a Python program did with the exit code of a process that it started. Pure.

Its agent told who read the code of a child that failed, and who got an exception for it (`child-read`). Whether a code
that was handed over was used stands in the source: `child.wait()` alone drops it, `if child.wait():` does not.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.exit_status.child_exceptions import what_became_of
from diagnostics.dynamic.exit_status.child_products import ProductsLook, look_at_products
from diagnostics.dynamic.exit_status.code_reads import code_leads_to
from diagnostics.dynamic.exit_status.handed_over import handing_over
from diagnostics.dynamic.exit_status.unasked_coroutines import unasked_line
from diagnostics.dynamic.exit_status.value_carriers import Consequence
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.process_list import words
from diagnostics.record.agent_data import AgentData, LifecycleEvent
from diagnostics.static.launch_files.status_flow import Fate, StatusFlow
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.source_file import SourceFile

READ = "child-read"
_SAID = "its parent read the code and did no more than to show it"


def of_python(job: Job, parent: JobProcess, child: JobProcess) -> StatusFlow:
    """Returns what `parent` did with the code of `child`, which it started and which failed."""
    if parent.agent is None:
        return StatusFlow(fate=Fate.UNKNOWN)
    started = _started(parent, child)
    if started is None:  # a library's own way, or one of too many
        return StatusFlow(fate=Fate.UNKNOWN)
    told = words(started.text)
    if "test" in told:
        return StatusFlow(fate=Fate.HANDLED, how=f"a test of {told['test']} started it")
    overflown = parent.agent.last_event("sys.exit", "os._exit")
    if overflown is not None and overflown.value and overflown.value % 256 == 0 and parent.end.exit_code == 0:
        frames = user_frames(overflown.path, agent_folder=parent.agent.agent_folder)
        places = tuple(job.line(frame) for frame in frames[:1])
        return StatusFlow(
            fate=Fate.DROPPED, places=places, how=f"it left with {overflown.value}, of which the system keeps 8 bits: 0"
        )
    group = _started_with(job, parent, child, started)
    looks = [_looked(job, parent, one, started) for one in _reads(parent.agent, started, group)]
    for fate in (Fate.HANDLED, Fate.UNKNOWN):
        answers = [one for one in looks if one.fate is fate]
        if answers:
            return answers[0]
    at_start = user_frames(started.path, agent_folder=parent.agent.agent_folder)
    if any(one.by_exception for one in looks):
        dropped = next(one for one in looks if one.by_exception)
    elif "pool" in told or "reads" not in told or _lost_some(parent):
        return StatusFlow(fate=Fate.UNKNOWN)
    elif told.get("how") == "process" and child.end.signal is None and child.uncaught is None:
        return StatusFlow(fate=Fate.UNKNOWN)  # a code that it chose; its answer may have gone through a queue
    else:
        unused = [place for one in looks for place in one.places]
        places = tuple(dict.fromkeys([*unused[-1:], *(job.line(one) for one in at_start[:1])]))
        how = next((one.how for one in looks if one.how), "its parent never looked at the code")
        dropped = StatusFlow(fate=Fate.DROPPED, places=places, how=how)
    looked = _products(job, parent, started)
    if not at_start or looked.leads_to is Consequence.ACTED_ON:
        return StatusFlow(fate=Fate.UNKNOWN, how="its parent looks at what it left" if at_start else "")
    recorded = looked.worded and looked.leads_to is Consequence.RECORDED
    return replace(dropped, recorded=recorded or any(one.recorded for one in looks))


_latest: list[tuple[Job, int, tuple[SourceFile, ...]]] = []  # each failed rank of a job is asked about


_looks: dict[tuple[str, tuple[Frame, ...], tuple[Frame, ...]], StatusFlow] = {}  # of that process


def _sources(job: Job, process: JobProcess) -> tuple[SourceFile, ...]:
    if not _latest or _latest[0][0] is not job or _latest[0][1] != process.pid:
        _looks.clear()
        _latest[:] = [(job, process.pid, tuple(file for _, file in job_sources(job, process)))]
    return _latest[0][2]


def _products(job: Job, parent: JobProcess, started: LifecycleEvent) -> ProductsLook:
    frames = user_frames(started.path, agent_folder=parent.agent_folder)
    sources = _sources(job, parent)
    return look_at_products(job, frames, sources, process=words(started.text).get("how") == "process")


def looks_at_products_of(job: Job, parent: JobProcess, child: JobProcess) -> bool:
    """Whether `parent`, which started `child`, decides on what that left behind."""
    started = _started(parent, child)
    if started is None or parent.agent is None:
        return False
    return _products(job, parent, started).leads_to is Consequence.ACTED_ON


def _reads(parent: AgentData, started: LifecycleEvent, group: set[str]) -> list[LifecycleEvent]:
    return [one for one in parent.events if one.kind == READ and _is_about(one, started, group)]


def _looked(job: Job, process: JobProcess, read: LifecycleEvent, started: LifecycleEvent) -> StatusFlow:
    """As _look: of many ranks that one line waits for each is asked about with the looks at all of them."""
    _sources(job, process)
    key = read.text.partition("how=")[2], read.path, started.path
    if key not in _looks:
        _looks[key] = _look(job, process, read, started)
    return _looks[key]


def _look(job: Job, process: JobProcess, read: LifecycleEvent, started: LifecycleEvent) -> StatusFlow:
    """Returns what one look at the code says of it; DROPPED where what it gave went nowhere."""
    said = words(read.text)
    how = said.get("how", "")
    folder = process.agent_folder
    if how == "raised" and (lost := _in_a_future(process, read)) is not None:
        return _unasked(job, lost)
    if how == "raised":
        kept = said.get("kept", "")
        sources = _sources(job, process)
        return what_became_of(job, read.path, folder, int(kept) if kept.isdigit() else None, sources)
    if how == "unseen":
        return StatusFlow(fate=Fate.UNKNOWN, how="a library got its code")
    frames = user_frames(read.path, agent_folder=folder)
    imported = len(frames) > 1 and frames[0].function == "<module>"  # others may look at its names
    asked_by_nobody = unasked_line(job.sources.file(frames[0].file), frames[0].line) if frames else None
    if asked_by_nobody is not None:
        left = Frame(file=frames[0].file, line=asked_by_nobody, function="")
        return StatusFlow(
            fate=Fate.DROPPED, places=(job.line(left), job.line(frames[0])), by_exception=True, unasked=True,
            how="it raised for the code, and nobody looked at what came of the coroutine",
        )  # fmt: skip
    at = f" at {job.line(frames[0])}" if frames else ""
    if not frames or imported:
        return StatusFlow(fate=Fate.HANDLED, how=f"its parent read the code{at}")
    sources = _sources(job, process)
    ways = user_frames(started.path, agent_folder=folder) if not _came_good(job, process, started) else ()
    called = ["", *(one.function.rpartition(".")[2] for one in ways)]
    starts = [(job.sources.file(one.file), one.line, inner) for one, inner in zip(ways, called, strict=False)]
    found = code_leads_to(job.sources.file(frames[0].file), frames[0].line, how, sources, starts)
    if found is Consequence.ACTED_ON and (lost := _in_a_future(process, read)) is not None:
        return _unasked(job, lost)  # what it did was to raise
    if found is Consequence.ACTED_ON:
        return StatusFlow(fate=Fate.HANDLED, how=f"its parent read the code{at}")
    return StatusFlow(
        fate=Fate.DROPPED,
        places=(job.line(frames[0]),),
        how=_SAID if found else "",
        recorded=found is Consequence.RECORDED,
    )


def _came_good(job: Job, parent: JobProcess, started: LifecycleEvent) -> bool:
    """Whether the same line started another child, for whom ever, and that one ended well: the failure was answered."""
    line = user_frames(started.path, agent_folder=parent.agent_folder)[:1]
    children = _events(parent, "child")
    others = (one for one in children if user_frames(one.path, agent_folder=parent.agent_folder)[:1] == line)
    pids = (words(one.text).get("pid", "") for one in others)
    ends = (job.of_pid(int(pid)) for pid in pids if pid.isdigit())
    return any(one is not None and one.end.exit_code == 0 for one in ends)


def _unasked(job: Job, lost: ExceptionRecord) -> StatusFlow:
    return StatusFlow(
        fate=Fate.DROPPED,
        places=(*handing_over(job, lost.user_path[-1]), job.line(lost.user_path[0])),
        how="nobody asked the future for its result",
        by_exception=True,
        unasked=True,
    )


def _in_a_future(process: JobProcess, read: LifecycleEvent) -> ExceptionRecord | None:
    """Returns the exception that told of the child, where it stayed in a future that nobody asked; else None."""
    raised_in = {
        (frame.file, frame.function) for frame in user_frames(read.path, agent_folder=process.agent_folder)[:1]
    }
    return next(
        (
            one
            for one in process.raised
            if one.how is ExceptionSource.UNASKED
            and any((frame.file, frame.function) in raised_in for frame in one.user_path)
        ),
        None,
    )


def starts_conditionally(job: Job, parent: JobProcess, child: JobProcess) -> bool:
    """Whether `parent` started `child` in a branch or a handler of its own source."""
    started = _started(parent, child)
    if started is None or parent.agent is None:
        return False
    frames = user_frames(started.path, agent_folder=parent.agent.agent_folder)
    return any(_in_branch(job.sources.file(frame.file), frame.line) for frame in frames)


def _in_branch(source: SourceFile, line: int) -> bool:
    for node in walk(source.tree) if source.tree is not None else ():
        if isinstance(node, (ast.If, ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.While)) and spans(node, line):
            is_main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
            if not is_main:
                return True
    return False


def _started(parent: JobProcess, child: JobProcess) -> LifecycleEvent | None:
    """Returns the event of the call that started `child`; os.system does not know the pid of its shell."""
    events = _events(parent, "child")
    own = [one for one in events if words(one.text).get("pid") == str(child.pid)]
    by_system = [one for one in events if words(one.text).get("how") == "system" and _text_of(one) in child.argv]
    found = own or by_system
    return found[-1] if found else None


def _text_of(event: LifecycleEvent) -> str:
    return event.text.partition(" | ")[2]


def _started_with(job: Job, parent: JobProcess, child: JobProcess, started: LifecycleEvent) -> set[str]:
    """Returns the pids of `child` and of those that the same line started and that ran beside it.

    Ranks fail together; who waits for them looks at the first one that did, and ends the others.
    """
    pids = {words(one.text).get("pid", "") for one in _events(parent, "child") if one.path == started.path}
    beside = {pid for pid in pids if pid.isdigit() and _overlap(job.of_pid(int(pid)), child)}
    return beside | {str(child.pid)}


def _overlap(one: JobProcess | None, other: JobProcess) -> bool:
    return one is not None and one.began_s < ended_s(other) and other.began_s < ended_s(one)


def _events(process: JobProcess, kind: str) -> list[LifecycleEvent]:
    return [one for one in process.agent.events if one.kind == kind] if process.agent is not None else []


def _is_about(read: LifecycleEvent, started: LifecycleEvent, group: set[str]) -> bool:
    said = words(read.text)
    if words(started.text).get("how") == "system":
        return said.get("how") in ("system", "unseen") and said.get("pid") == "0" and read.path == started.path
    unknown = said.get("pid") == "0" and said.get("how") == "returncode"  # of a result that another process made
    return said.get("pid") in group or unknown


def _lost_some(parent: JobProcess) -> bool:
    """Whether there were more reads than its agent had room for."""
    dropped = parent.agent.last_event("dropped") if parent.agent is not None else None
    return dropped is not None and READ in dropped.text
