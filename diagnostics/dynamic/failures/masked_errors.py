"""Errors that a process survived, and whether they cost the job its work. Pure.

An exception that was caught is evidence only where work is missing: fewer steps than another rank, none at all, or a
training loop that it cut short.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.failures.asked_work import asked_for_no_training, went_on
from diagnostics.dynamic.failures.lost_saves import SAVING, lost_save, unsaved_error
from diagnostics.dynamic.failures.training_code import CONTROL, stepped_after, trained_in
from diagnostics.dynamic.failures.unasked_results import unasked_training
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.process_kinds import test_runner
from diagnostics.record.agent_data import LifecycleEvent, ModuleName
from diagnostics.record.torch_messages import is_lost_peer
from diagnostics.static.program.exception_flow import (
    catches,
    catching,
    goes_on_raising,
    handler_of,
    hiding_line,
    in_training_loop,
    is_broad,
    swallowing_tries,
    taken_kinds,
    tells_by,
    training_loops,
    with_around,
)
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.unwinding import unwinds

LOOP_MISSING = "the rest of a training loop"
SAVE_MISSING = "the file that it was to write"
LOOKED_AT = 8  # of the exceptions that a process caught, the latest
MADE = ("optimizer", "ddp", "dataloader", "process-group", "loader-iter", "optimizer-begin", "ddp-begin")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedError:
    """An error that a process hid. `raised` is None where only its exit from a handler tells of it."""

    process: JobProcess
    raised: ExceptionRecord | None
    hiding: Frame | None  # the handler, or the call in it that left with 0
    missing: str  # the work that is missing, in words
    certain: bool
    module: ModuleName | None = None

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The user's path to the error."""
        return self.raised.user_path if self.raised is not None else ()


def hidden_error(job: Job, process: JobProcess) -> MaskedError | None:
    """Returns the error that a process with exit code 0 hid; None where no work is missing or nothing was caught."""
    if process.failed or process.agent is None or test_runner(process.argv):
        return None
    left = _left(process)
    uncaught = next((one for one in reversed(process.raised) if one.how is ExceptionSource.UNCAUGHT), None)
    if uncaught is not None and left is not None and not CONTROL.search(uncaught.type):
        hiding = _own_frame(process, left)
        return MaskedError(process=process, raised=uncaught, hiding=hiding, missing="its exit code", certain=True)
    unsaved = unsaved_error(job, process)
    if unsaved is not None:
        seen = any(one.function in SAVING for one in process.loads)  # else that it was to write is read in its text
        return MaskedError(process=process, raised=unsaved, hiding=None, missing=SAVE_MISSING, certain=seen)
    lost = lost_save(job, process)
    if lost is not None:
        return MaskedError(process=process, raised=lost.raised, hiding=lost.hiding, missing=SAVE_MISSING, certain=False)
    unasked = unasked_training(job, process)
    if unasked is not None:
        return MaskedError(process=process, raised=unasked, hiding=None, missing=LOOP_MISSING, certain=False)
    dropped = _on_its_way_at(job, process, left)
    if dropped is not None:
        return MaskedError(
            process=process, raised=dropped, hiding=_own_frame(process, left), missing="its exit code", certain=True
        )
    caught = [
        one
        for one in process.raised
        if one.how in (ExceptionSource.LOGGED, ExceptionSource.PRINTED, ExceptionSource.CAUGHT, ExceptionSource.OUTPUT)
    ]
    latest = sorted((one for one in caught if not CONTROL.search(one.type)), key=lambda one: -one.at_s)[:LOOKED_AT]
    for raised in latest:
        missing = _missing_after(job, process, raised, left)
        if missing and raised.user_path:
            return MaskedError(
                process=process,
                raised=raised,
                hiding=_hiding(job, process, raised, left),
                missing=missing,
                certain=True,
            )
    return _kept_quiet(job, process, left) or _left_from_handler(job, process, left) or _swallowed(job, process)


def _kept_quiet(job: Job, process: JobProcess, left: LifecycleEvent | None) -> MaskedError | None:
    """Returns what came out of a model, a loader or a backward pass and ended in a handler around the training loop."""
    for seen in reversed(process.raised):
        if seen.how is not ExceptionSource.FORWARD or CONTROL.search(seen.type):
            continue
        raised = _up_to_its_handler(job, seen)
        missing = _missing_after(job, process, raised, left) if raised is not None else ""
        if raised is not None and missing:
            hiding = _hiding(job, process, raised, left)
            return MaskedError(process=process, raised=raised, hiding=hiding, missing=missing, certain=False)
    return None


def _up_to_its_handler(job: Job, seen: ExceptionRecord) -> ExceptionRecord | None:
    """Returns an exception with its path up to the handler that can take it; None where no `try` on the way can."""
    name = seen.type.rpartition(".")[2]
    for index, frame in enumerate(seen.user_path, 1):
        block = catching(job.sources.file(frame.file), frame.line)
        if block is None or goes_on_raising(block):
            continue
        if any(is_broad(handler) or catches(handler, name) for handler in block.handlers):
            path = seen.user_path[:index]
            return replace(seen, how=ExceptionSource.CAUGHT, path=path, user_path=path)
    return None


def _missing_after(job: Job, process: JobProcess, raised: ExceptionRecord, left: LifecycleEvent | None) -> str:
    """Returns the work that is missing since an exception, in words; "" where none is known to be."""
    steps, went_on = process.steps, stepped_after(job, process, raised)
    most = max((one.steps for one in job.ranks), default=0)
    if steps == 0 and most == 0:
        if process.agent is not None and process.agent.steps.backwards:
            return ""  # it updates its parameters by hand
        if asked_for_no_training(job, process):
            return ""
        return "no optimizer step was made" if _meant_to_train(job, process) and _nothing_after(process, raised) else ""
    trained_by = trained_in(job, process)
    in_loop = any(in_training_loop(job.sources.file(one.file), one.line, trained_by) for one in raised.user_path)
    if steps < most and (not went_on or (in_loop and not _by_design(job, raised))):
        return f"{steps} optimizer steps, while another rank made {most}"
    if went_on:
        return ""
    from_handler = _exit_in_handler(job, process, left) is not None and in_loop
    return "the training loop ended there" if from_handler or cuts_training(job, process, raised) else ""


def _is_an_end(block: ast.Try | ast.With | ast.AsyncWith, raised: ExceptionRecord) -> bool:
    """Whether what took an exception names that very one, and it is none that tells of an error: there is no more."""
    name = raised.type.rpartition(".")[2]
    if hasattr(builtins, name) and name not in ("EOFError", "IndexError"):
        return False
    if not hasattr(builtins, name) and name.endswith(("Error", "Failure", "Exception")):
        return False
    return any(name == last_name(kind) for kind in taken_kinds(block))


def _by_design(job: Job, raised: ExceptionRecord) -> bool:
    """Whether a handler names the very exception, one that the job's own code or a library has a class for."""
    outer, name = raised.user_path[-1], raised.type.rpartition(".")[2]
    block = catching(job.sources.file(outer.file), outer.line)
    return block is not None and not hasattr(builtins, name) and any(catches(one, name) for one in block.handlers)


def _nothing_after(process: JobProcess, raised: ExceptionRecord) -> bool:
    """Whether it made nothing that training needs after an exception: what came before has been got over."""
    events = process.agent.events if process.agent is not None else ()
    return all(event.sequence < raised.sequence for event in events if event.kind in MADE)


def cuts_training(job: Job, process: JobProcess, raised: ExceptionRecord) -> bool:
    """Whether an exception came out of a training loop, to a handler outside of it."""
    if not raised.user_path:
        return False
    trained_by = trained_in(job, process)
    outer = raised.user_path[-1]
    block = _hiding_block(job, raised)
    if block is None or (isinstance(block, ast.Try) and goes_on_raising(block)) or _is_an_end(block, raised):
        return False
    around = in_training_loop(
        job.sources.file(outer.file), block.lineno, trained_by
    )  # a handler in the loop goes on with it
    return not around and any(
        in_training_loop(job.sources.file(one.file), one.line, trained_by) for one in raised.user_path
    )


def _meant_to_train(job: Job, process: JobProcess) -> bool:
    """Whether a process had begun what training needs; an optimizer says so, or a loop in a file that it ran."""
    kinds = {event.kind for event in process.agent.events} if process.agent is not None else set()
    if _made_optimizer(process):
        return True
    uses_torch = bool(kinds & set(MADE)) or (process.agent is not None and bool(process.agent.constructions))
    trained_by = trained_in(job, process)
    return uses_torch and any(training_loops(file, trained_by) for _, file in job_sources(job, process))


def _made_optimizer(process: JobProcess) -> bool:
    return process.agent is not None and process.agent.last_event("optimizer", "optimizer-begin") is not None


def _left(process: JobProcess) -> LifecycleEvent | None:
    """Returns the call by which a process left with code 0 in the middle of its program."""
    event = process.agent.last_event("sys.exit", "os._exit") if process.agent is not None else None
    return event if event is not None and event.value == 0 else None


def _on_its_way_at(job: Job, process: JobProcess, left: LifecycleEvent | None) -> ExceptionRecord | None:
    """Returns the exception that a process cut off by leaving with 0 from a `finally`, or from the exit of a `with`."""
    if left is None:
        return None
    for raised in reversed(process.raised):
        told = raised.how is ExceptionSource.CAUGHT and raised.user_path and not CONTROL.search(raised.type)
        if is_lost_peer(raised.text):
            continue  # that its peers were through before it is no failure of its own
        if told and raised.sequence < left.sequence and unwinds(job.sources, raised.path, left.path):
            return raised
    return None


def _own_frame(process: JobProcess, event: LifecycleEvent | None) -> Frame | None:
    folder = process.agent_folder
    frames = user_frames(event.path, agent_folder=folder) if event is not None else ()
    return frames[0] if frames and not is_installed(frames[0]) else None


def _exit_in_handler(job: Job, process: JobProcess, left: LifecycleEvent | None) -> Frame | None:
    """Returns the line that left with 0 from an except or finally block, None where it stands in neither."""
    frame = _own_frame(process, left)
    inside = frame is not None and handler_of(job.sources.file(frame.file), frame.line) is not None
    return frame if inside else None


def _hiding(job: Job, process: JobProcess, raised: ExceptionRecord, left: LifecycleEvent | None) -> Frame | None:
    outer = raised.user_path[-1]
    block = _hiding_block(job, raised)
    exit_frame = _own_frame(process, left)
    if exit_frame is not None and (block is None or handler_of(job.sources.file(exit_frame.file), exit_frame.line)):
        return exit_frame
    if block is None:
        return None
    line = hiding_line(block) if isinstance(block, ast.Try) else block.lineno
    return Frame(file=outer.file, line=line, function=outer.function)


def _hiding_block(job: Job, raised: ExceptionRecord) -> ast.Try | ast.With | ast.AsyncWith | None:
    """Returns what caught an exception: the `try`, else the `with` of the frame that it was seen to end in."""
    outer = raised.user_path[-1]
    source = job.sources.file(outer.file)
    ended_there = raised.how is ExceptionSource.CAUGHT and raised.path[-1:] == (outer,)  # not in a future
    return catching(source, outer.line) or (with_around(source, outer.line) if ended_there else None)


def _left_from_handler(job: Job, process: JobProcess, left: LifecycleEvent | None) -> MaskedError | None:
    """An exit with 0 from an except or finally block: something was caught, though nobody saw what."""
    frame = _exit_in_handler(job, process, left)
    if frame is None:
        return None
    most = max((one.steps for one in job.ranks), default=0)
    trained = process.steps >= most and not (most == 0 and _meant_to_train(job, process))
    if trained and left_module(process) is None:
        return None
    missing = f"{process.steps} optimizer steps" if most else "no optimizer step was made"
    return MaskedError(process=process, raised=None, hiding=frame, missing=missing, certain=False)


def left_module(process: JobProcess) -> ModuleName | None:
    """Returns the module that an exception came out of, where no module was entered or made afterwards."""
    agent = process.agent
    if agent is None:
        return None
    last = max([0, *(one.sequence for one in agent.entered), *(one.sequence for one in agent.constructions)])
    left = [one for one in agent.open_modules if one.left_by_exception and one.left_at > last & 0xFFFFFFFF]
    return left[0].left_by_exception if left else None


def left_forward(process: JobProcess) -> ExceptionRecord | None:
    """Returns the exception that came out of a model, where no module was entered or made afterwards."""
    forward = [one for one in process.raised if one.how is ExceptionSource.FORWARD and one.user_path]
    return forward[-1] if forward and left_module(process) is not None else None


def _swallowed(job: Job, process: JobProcess) -> MaskedError | None:
    """Work is missing, and a handler around training lets nothing out.

    An exception came out of a module's forward and no module ran afterwards, or no step was made at all. Nobody saw
    the exception itself: before Python 3.12 nothing tells of what a handler keeps to itself.
    """
    module = left_module(process)
    nothing = not any(one.steps or (one.agent is not None and one.agent.steps.backwards) for one in job.ranks)
    meant = _made_optimizer(process) and not asked_for_no_training(job, process) and not went_on(job)
    if module is None and not (nothing and meant):
        return None
    raised = left_forward(process)
    missing = f"what comes after {process.steps} optimizer steps" if process.steps else "no optimizer step was made"
    trained_by = trained_in(job, process)
    blocks = [(name, block) for name, file in job_sources(job, process) for block in swallowing_tries(file, trained_by)]
    if module is None:
        blocks = [one for one in blocks if not _would_have_been_seen(process, one[1])]
    if not blocks:
        return None
    name, block = blocks[-1]  # files come in the order in which they were seen: the innermost try last
    hiding = Frame(file=name, line=hiding_line(block), function="")
    return MaskedError(process=process, raised=raised, hiding=hiding, missing=missing, certain=False, module=module)


def _would_have_been_seen(process: JobProcess, block: ast.Try) -> bool:
    """Whether each handler tells of what it catches in a way that the agent sees: then it did not run."""
    hooks = process.agent.last_event("hooks") if process.agent is not None else None
    seen = {
        "print": ("print",),
        "logging": ("exception",),
        "traceback": ("print_exc", "format_exc", "print_exception", "format_exception"),
    }
    calls = tuple(name for way in (hooks.text.split() if hooks is not None else ()) for name in seen.get(way, ()))
    return bool(block.handlers) and all(tells_by(handler, calls) for handler in block.handlers)
