"""A rank left with an error code of its own: sys.exit, raise SystemExit, os._exit, os.abort.

What it does: names the line that left, and the exception that was caught just before, where there was one. Of a
command line that argparse or click refused it says what to pass.

Why it matters: there is no traceback, and a launcher prints the code only.

Fix: the line named says why it leaves; else let the exception through.
"""

from __future__ import annotations

import ast

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, last_line, problem_line, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.refused_options import EXIT_CODE, refused_options
from diagnostics.dynamic.failures.root_exception import locations_of, of_raised, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    names_of,
    output_evidence,
    path_evidence,
    primary_failures,
    source_evidence,
    written_by,
)
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.process_list import starts_python
from diagnostics.record.agent_data import LifecycleEvent

CODE = "D202"
NAME = "rank-leaves"
CLASS = "python-exception"
EXAMINES = AppliesTo.FAILED

_JUST_BEFORE_S = 5.0  # an exception caught so long before the exit led to it
_HIDDEN = (ExceptionSource.LOGGED, ExceptionSource.PRINTED, ExceptionSource.CAUGHT, ExceptionSource.THREAD)


def match(job: Job) -> Match | None:
    """Returns the first process at fault that ended by its own word, without an exception that anybody saw."""
    for process in filter(_is_python, primary_failures(job)):
        if process.end.exit_code not in (0, None) and root_exception(job, process) is None:
            return _match(job, process)
    return None


def _is_python(process: JobProcess) -> bool:
    """Whether it ran Python: what another program's exit code means is that program's own affair."""
    return process.part is ProcessRole.RANK or process.agent is not None or starts_python(process.argv)


def _leaving(process: JobProcess) -> LifecycleEvent | None:
    """Returns the last way out that a file of the job took: multiprocessing's own `sys.exit` follows the user's."""
    events = process.agent.events if process.agent is not None else ()
    ways = [event for event in events if event.kind in ("sys.exit", "os._exit", "os.abort")]
    in_files = [event for event in ways if any(not frame.file.startswith("<") for frame in event.path)]
    found = in_files or ways
    return found[-1] if found else None


def _left_there(process: JobProcess, where: LifecycleEvent | None) -> bool:
    """Whether another rank left by the same line with an error, also where its launcher had begun to end it."""
    event = _leaving(process) if process.failed else None
    return event is not None and where is not None and bool(event.value) and event.path[:1] == where.path[:1]


def _match(job: Job, process: JobProcess) -> Match:
    event = _leaving(process)
    folder = process.agent_folder
    frames = user_frames(event.path, agent_folder=folder) if event is not None else ()
    written = written_by(job, process)
    refused = refused_options(written) if process.end.exit_code == EXIT_CODE else None
    said = refused.line if refused is not None else problem_line(written)
    if not frames and (raising := _raise_of(job, process, last_line(written))) is not None:
        frames = (raising,)
    caught = _caught_before(process, event) if refused is None else None  # argparse's own, of which that line tells
    before = locations_of(job, of_raised(job, process, caught)) if caught is not None else ()
    own = [job.line(frame) for frame in frames[:2]]
    locations = distinct([*before[:1], *own, *before[1:]])
    at = f" at {own[0]}" if own else ""
    why = f" after {caught.text}" if caught is not None else f": {said}" if said else ""
    raised = f", raised at {before[0]}" if before else ""
    alike = [process, *(one for one in job.ranks if one.pid != process.pid and _left_there(one, event))]
    return blamed(
        job,
        alike,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(alike))} left with exit code {process.end.exit_code}{at}{why}{raised}",
        evidence=[
            end_evidence(process),
            *path_evidence(job, f"{event.kind}({event.value})" if event is not None else "raise SystemExit", frames),
            *(path_evidence(job, caught.text, caught.user_path) if caught is not None else ()),
            *(source_evidence(job, frames[0]) if frames else output_evidence(process)),
        ],
        fix=Fix(
            text=refused.remedy
            if refused is not None
            else f"see why the program leaves{at}; an exception that is let through names its own line"
        ),
        locations=locations,
        confidence=Confidence.LIKELY if locations else Confidence.POSSIBLE,
        generic=True,
    )


def _caught_before(process: JobProcess, event: LifecycleEvent | None) -> ExceptionRecord | None:
    caught = [one for one in process.raised if one.how in _HIDDEN and one.user_path]
    if not caught or event is None or process.end.at_s is None:
        return None
    return caught[-1] if caught[-1].at_s >= process.end.at_s - _JUST_BEFORE_S else None


def _raise_of(job: Job, process: JobProcess, said: str) -> Frame | None:
    """Returns the one `raise SystemExit("...")` in the job's files whose text was the last thing written."""
    found = []
    for name, source in job_sources(job, process):
        for node in ast.walk(source.tree) if source.tree is not None else ():
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _fits(node.exc, said):
                found.append(Frame(file=name, line=node.lineno, function=""))
    return found[0] if len(found) == 1 else None


def _fits(call: ast.Call, said: str) -> bool:
    if ast.unparse(call.func).rpartition(".")[2] != "SystemExit" or not call.args:
        return False
    texts = [
        node.value for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return bool(said) and any(len(text.strip()) > 3 and text.strip() in said for text in texts)
