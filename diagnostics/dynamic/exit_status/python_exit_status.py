"""What a Python program did with the exit code of a process that it started. Pure.

Its agent told who read the code of a child that failed, and who got an exception for it (`child-read`). Whether a code
that was handed over was used stands in the source: `child.wait()` alone drops it, `if child.wait():` does not.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.exit_status.child_exceptions import what_became_of
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_list import words
from diagnostics.record.agent_data import LifecycleEvent
from diagnostics.static.launch_files.shell_exit_status import Fate, StatusFlow
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.source_file import SourceFile

READ = "child-read"
_ATTRIBUTES = ("returncode", "exitcode")
_GIVING = {
    "wait": ("wait", "poll"), "poll": ("wait", "poll"), "call": ("call",), "close": ("close",),
    "getstatusoutput": ("getstatusoutput",), "system": ("system",),
    "waitpid": ("waitpid", "wait", "wait3", "wait4", "waitid"),
}  # fmt: skip


def of_python(case: Job, parent: JobProcess, child: JobProcess) -> StatusFlow:
    """Returns what `parent` did with the code of `child`, which it started and which failed."""
    if parent.agent is None:
        return StatusFlow(fate=Fate.UNKNOWN)
    started = _started(parent, child)
    if started is None:  # a library's own way, or one of too many
        return StatusFlow(fate=Fate.UNKNOWN)
    told = words(started.text)
    if "test" in told:
        return StatusFlow(fate=Fate.HANDLED, how=f"a test of {told['test']} started it")
    group = _started_with(case, parent, child, started)
    reads = [one for one in parent.agent.events if one.kind == READ and _is_about(one, started, group)]
    unused: list[str] = []
    for read in reads:
        frames = user_frames(read.path, agent_folder=parent.agent.agent_folder)
        how = words(read.text).get("how", "")
        if how == "raised":
            return what_became_of(case, frames)
        if not frames or _is_used(case.sources.file(frames[0].file), frames[0], how):
            at = f" at {case.line(frames[0])}" if frames else ""
            return StatusFlow(fate=Fate.HANDLED, how=f"its parent read the code{at}")
        unused.append(case.line(frames[0]))
    if "pool" in told or "reads" not in told or _lost_some(parent):
        return StatusFlow(fate=Fate.UNKNOWN)
    if told.get("how") == "process" and child.end.signal is None and child.uncaught is None:
        return StatusFlow(fate=Fate.UNKNOWN)  # a code that it chose; its answer may have gone through a queue
    at_start = user_frames(started.path, agent_folder=parent.agent.agent_folder)
    places = tuple(dict.fromkeys([*unused[-1:], *(case.line(one) for one in at_start[:1])]))
    return StatusFlow(fate=Fate.DROPPED, places=places, how="its parent never looked at the code")


def starts_conditionally(case: Job, parent: JobProcess, child: JobProcess) -> bool:
    """Whether `parent` started `child` in a branch or a handler of its own source."""
    started = _started(parent, child)
    if started is None or parent.agent is None:
        return False
    frames = user_frames(started.path, agent_folder=parent.agent.agent_folder)
    return any(_in_branch(case.sources.file(frame.file), frame.line) for frame in frames)


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


def _started_with(case: Job, parent: JobProcess, child: JobProcess, started: LifecycleEvent) -> set[str]:
    """Returns the pids of `child` and of those that the same line started and that ran beside it.

    Ranks fail together; who waits for them looks at the first one that did, and ends the others.
    """
    pids = {words(one.text).get("pid", "") for one in _events(parent, "child") if one.path == started.path}
    beside = {pid for pid in pids if pid.isdigit() and _overlap(case.of_pid(int(pid)), child)}
    return beside | {str(child.pid)}


def _overlap(one: JobProcess | None, other: JobProcess) -> bool:
    return one is not None and one.began_s < ended_s(other) and other.began_s < ended_s(one)


def _events(story: JobProcess, kind: str) -> list[LifecycleEvent]:
    return [one for one in story.agent.events if one.kind == kind] if story.agent is not None else []


def _is_about(read: LifecycleEvent, started: LifecycleEvent, group: set[str]) -> bool:
    if words(started.text).get("how") == "system":
        return words(read.text).get("how") == "system" and read.path == started.path
    return words(read.text).get("pid") in group


def _lost_some(parent: JobProcess) -> bool:
    """Whether there were more reads than its agent had room for."""
    dropped = parent.agent.last_event("dropped") if parent.agent is not None else None
    return dropped is not None and READ in dropped.text


def _is_used(source: SourceFile, frame: Frame, how: str) -> bool:
    """Whether a code that was read or handed over at a line went anywhere; where the source does not tell, it did."""
    if source.tree is None:
        return True
    nodes = [node for node in walk(source.tree) if spans(node, frame.line)]
    on_line = [node for node in nodes if _is_meant(node, how)]
    if not on_line:
        return True
    above = {child: node for node in (source.tree, *nodes) for child in ast.iter_child_nodes(node)}
    loaded = {node.id for node in walk(source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return any(_goes_somewhere(node, above, loaded, how) for node in on_line)


def _is_meant(node: ast.AST, how: str) -> bool:
    if how in _ATTRIBUTES:
        return isinstance(node, ast.Attribute) and node.attr == how
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in _GIVING.get(how, (how,))


def _goes_somewhere(node: ast.AST, above: dict[ast.AST, ast.AST], loaded: set[str], how: str) -> bool:
    parent = above.get(node)
    while isinstance(parent, (ast.Await, ast.ListComp, ast.GeneratorExp, ast.List, ast.Tuple, ast.NamedExpr)):
        if isinstance(parent, ast.NamedExpr) and parent.target.id in loaded:
            return True
        node, parent = parent, above.get(parent)
    if isinstance(parent, ast.Compare):  # `is None` asks whether it has ended, not how
        return not all(isinstance(one, (ast.Is, ast.IsNot)) for one in parent.ops)
    if isinstance(parent, ast.Expr):
        return False
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(_is_loaded(target, loaded, how) for target in targets)
    return True


def _is_loaded(target: ast.expr, loaded: set[str], how: str) -> bool:
    """Whether what is assigned is looked at anywhere in the file."""
    if isinstance(target, ast.Name):
        return target.id in loaded
    if isinstance(target, (ast.Tuple, ast.List)):
        parts: Sequence[ast.expr] = target.elts[1:] if how == "waitpid" else target.elts  # the first is the pid
        return any(_is_loaded(one, loaded, how) for one in parts)
    return True
