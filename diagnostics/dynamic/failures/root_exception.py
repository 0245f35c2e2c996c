"""The exception at the bottom of a failure, and its lines in the job's own files. Pure.

What ended a rank may only carry what happened elsewhere: in a data worker, in a spawned child, in a process pool, on
another rank that told of it, or before a `raise ... from`.

What to do about an exception, by what its text says; only where the text itself proves it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame
from diagnostics.core.frames import shown_path, user_frames
from diagnostics.core.wording import distinct
from diagnostics.dynamic.failures.autograd_functions import backward_in_error
from diagnostics.dynamic.failures.sample_lines import sample_lines
from diagnostics.dynamic.job.evidence import PASSED_ON, written_by
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.record.torch_messages import LOST_PEER
from diagnostics.record.tracebacks import TracebackText, tracebacks
from diagnostics.static.program.exception_flow import ends_in_raise, handler_of

# Pattern over "Type: message", and the advice; groups of the pattern fill the words.
_TEXTS = (
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        "{module} was made for {3} input features and was given {2}: make it with in_features={2}, "
        "or reshape its input so that the last axis has {3}",
    ),
    (
        r"expected input\[[^\]]{0,200}\] to have (\d+) channels, but got (\d+) channels",
        "{module} was made for {1} channels and was given {2}: change in_channels, or the axis that holds the channels",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        "two tensors of sizes {1} and {2} on axis {3} meet at {line}: print both shapes above it, "
        "and make the one that is wrong as long as the other",
    ),
    (
        r"Expected all tensors to be on the same device.{0,300}?(cuda:\d{1,3}|cpu).{0,300}?(cuda:\d{1,3}|cpu)",
        "one tensor is on {1}, another on {2}: move the input (or the module) at {line} with .to(device)",
    ),
    (r"Error\(s\) in loading state_dict", "make the model as it was when the file was saved; its keys are above"),
    (r"^KeyError: (.*)", "{1} is not among the keys at {line}: compare them with what made the mapping"),
    (r"^FileNotFoundError: [^'\"]*: (['\"].*['\"])",
     "{1} is missing: create it, or correct the path that leads to {line}"),
    (r"^IndexError: (.*)", "an index at {line} is past the end ({1}): check the length that it was made for"),
    (r"index out of range in self", "an index at {line} is not below num_embeddings: check vocabulary and padding"),
    (r"^(?:subprocess\.)?CalledProcessError: Command (.{1,300}) returned non-zero exit status (-?\d+)",
     "see what this command wrote before it ended with {2}, or run it by itself: {1}"),
    (r"^NotImplementedError", "{line} calls what its class leaves open: implement it, or use another class"),
    (r"^ZeroDivisionError", "a count at {line} is 0: see what was to fill it"),
    (r"^AssertionError", "the assertion at {line} does not hold: see the values it compares"),
    (r"^(?:yaml|json|configparser|tomllib)\.", "the configuration does not parse: correct the line named"),
    (r"^(?:SyntaxError|IndentationError|TabError)", "{line} does not parse: correct it"),
    (r"does not require grad and does not have a grad_fn", "the loss at {line} depends on no parameter: "
     "look for detach(), no_grad() or frozen parameters before it"),
    (r"stack expects each tensor to be equal size", "pad or cut the samples to one size where {line} gives them, or "
     "together in a collate_fn of your own"),
    (r"backward through the graph a second time", "{line} runs backward twice over one graph: "
     "compute the loss anew, or detach() what is carried from step to step"),
)  # fmt: skip
_KNOWN = tuple((re.compile(pattern, re.DOTALL), words) for pattern, words in _TEXTS)

IN_WORKER = re.compile(r"Caught ([\w.]+) in \w+ worker process (\d+)")
IN_CHILD = re.compile(r"^-- Process (\d+) terminated with the following error:", re.MULTILINE)
GROUP = re.compile(r"(?:^|\.)(?:Base)?ExceptionGroup$")
_BAD_SYNTAX = ("SyntaxError", "IndentationError", "TabError")
_SYNTAX_PLACE = re.compile(r"\(([^()]+\.py), line (\d+)\)")
_CONFIG_PLACE = re.compile(r'in "([^"<>\n]{1,300}\.(?:ya?ml|toml|json))", line (\d+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class RootException:
    """The exception that started a process's failure. `frames` are the user's, innermost first; so are `before`'s.

    `before` is the path of the exception that this one followed from, `before_first` whether that one is the cause.
    """

    process: JobProcess  # where it was raised: the data worker, the spawned child, the rank that told the others
    type: str
    message: str
    frames: tuple[Frame, ...]
    path: tuple[Frame, ...]  # library frames too
    at_s: float
    how: ExceptionSource
    before: tuple[Frame, ...] = ()
    before_text: str = ""
    before_first: bool = False

    @property
    def text(self) -> str:
        """Type and message, as Python's last line has it."""
        return f"{self.type}: {self.message}" if self.message else self.type

    @property
    def root_text(self) -> str:
        """The text of the cause."""
        return self.before_text if self.before_first else self.text

    @property
    def frame(self) -> Frame | None:
        """The user's line to look at first."""
        frames = self.before if self.before_first and self.before else self.frames
        return frames[0] if frames else None


def root_exception(job: Job, process: JobProcess) -> RootException | None:
    """Returns the exception that started the failure of `process`; None where no exception is known."""
    raised = process.uncaught
    if not process.failed or (raised is not None and not _ended_it(process, raised)):
        return None
    if raised is None:
        texts = _own_texts(job, process) if process.end.signal is None and not _left_in_order(process) else []
        return _of_text(job, process, texts[-1]) if texts else None
    carried = _carried(job, process, raised)
    return carried if carried is not None else _with_chain(job, process, raised)


def _ended_it(process: JobProcess, raised: ExceptionRecord) -> bool:
    """Whether the exception ended the process: a traceback that it only printed does not explain a later signal."""
    return raised.how is not ExceptionSource.OUTPUT or process.end.signal is None or process.agent is None


def _left_in_order(process: JobProcess) -> bool:
    """Whether the agent saw the interpreter end without an exception: `sys.exit`, `raise SystemExit`."""
    agent = process.agent
    return agent is not None and agent.last_event("exit") is not None and agent.last_event("exception") is None


def _own_texts(job: Job, process: JobProcess) -> list[TracebackText]:
    """Returns the tracebacks that it may have printed; in what all wrote, a launcher's only repeats that it failed."""
    return [
        text
        for text in tracebacks(written_by(job, process), job.homes)
        if process.output or not PASSED_ON.search(text.type)
    ]


def raised_on(job: Job, carrier: JobProcess, found: RootException) -> JobProcess:
    """Returns the rank that raised it, of one that another told of its failure; a worker's exception is its rank's."""
    return found.process if found.process in job.ranks else carrier


def of_raised(job: Job, process: JobProcess, raised: ExceptionRecord) -> RootException:
    """Returns one recorded exception as an origin, with what it followed from where the output tells."""
    return _with_chain(job, process, raised)


def locations_of(job: Job, found: RootException) -> tuple[str, ...]:
    """Returns the user's lines of an exception, best first: where it was raised, then its callers."""
    own = [job.line(frame) for frame in found.frames]
    before = [job.line(frame) for frame in found.before]
    named_in_text = [f"{shown_path(m[1], job.facts.cwd)}:{m[2]}" for m in _CONFIG_PLACE.finditer(found.message)]
    backward = backward_in_error(job, found.message)
    named_in_text += [job.line(backward)] if backward is not None else []
    named_in_text += [job.line(frame) for frame in sample_lines(job, found.process, found.path)]
    lines = [*before[:1], *own[:1], *own[1:3]] if found.before_first else [*own[:1], *before[:1], *own[1:3]]
    return distinct([*named_in_text[:1], *lines])


def _carried(job: Job, process: JobProcess, raised: ExceptionRecord) -> RootException | None:
    """Returns what happened in a worker or child, where `raised` only carries it."""
    member = _member(process, raised)
    if member is not None:
        return _carried(job, process, member) or _with_chain(job, process, member)
    worker = IN_WORKER.search(raised.message)
    if worker:
        sent = [(one, it) for one in job.children_of(process) for it in one.raised if it.how is ExceptionSource.WORKER]
        for one, it in sent:
            if it.type.rpartition(".")[2] == worker[1].rpartition(".")[2]:
                return _asked_for(job, process, raised, _with_chain(job, one, it))
        return _asked_for(job, process, raised, None)
    if gathered := [text for text in _inner_texts(job, process, raised, raised.message) if text.rank is not None]:
        own = next((text for text in gathered if text.rank == process.rank), gathered[0])
        return _told_by_rank(job, process, own)
    if PASSED_ON.search(raised.type) or IN_CHILD.search(raised.message):
        for one in job.children_of(process):
            if (
                one.uncaught is not None
                and one.failed
                and one.part is not ProcessRole.DATA_WORKER
                and one.pid != process.pid
            ):
                return root_exception(job, one)
        return _inner_text(job, process, raised, raised.message)
    return None


def _asked_for(
    job: Job, process: JobProcess, raised: ExceptionRecord, found: RootException | None
) -> RootException | None:
    """Returns a worker's exception; below library code alone it is placed where the batch was asked for."""
    if found is not None and found.frames:
        return found
    printed = _inner_text(job, process, raised, raised.message)
    if found is None or printed is None:
        found = found or printed
    else:
        found = replace(found, frames=printed.frames, path=printed.path)
    return found if found is None or found.frames else replace(found, frames=raised.user_path)


def _member(process: JobProcess, raised: ExceptionRecord) -> ExceptionRecord | None:
    """Returns the first exception that a group was made of: the agent tells of them just behind the group."""
    if not GROUP.search(raised.type) or not raised.sequence:
        return None
    behind = sorted((one for one in process.raised if one.sequence > raised.sequence), key=lambda one: one.sequence)
    return next((one for one in behind if one.how is ExceptionSource.CAUGHT and not GROUP.search(one.type)), None)


def _inner_text(job: Job, process: JobProcess, raised: ExceptionRecord, message: str) -> RootException | None:
    """Returns the traceback inside a message as an origin."""
    texts = _inner_texts(job, process, raised, message)
    return _of_text(job, process, texts[-1]) if texts else None


def _inner_texts(job: Job, process: JobProcess, raised: ExceptionRecord, message: str) -> tuple[TracebackText, ...]:
    """Returns the tracebacks inside a message; the one from the process's output where the message was cut."""
    if texts := tracebacks(message, job.homes):
        return texts
    printed = tracebacks(written_by(job, process), job.homes)
    holds = raised.message.partition("\n")[0]
    at = next((i for i, one in enumerate(printed) if holds and holds in one.message), None)
    return printed[at + 1 : at + 2] if at is not None else ()


def _told_by_rank(job: Job, process: JobProcess, text: TracebackText) -> RootException:
    """Returns what a rank told the others of: `process`, which raised it as well, may be one of these.

    What was raised below library code alone is placed where that rank called the library.
    """
    teller = next((rank for rank in job.ranks if rank.rank == text.rank), process)
    found = _of_text(job, teller, text)
    called = teller.uncaught or process.uncaught
    return found if found.frames or called is None else replace(found, frames=called.user_path)


def _of_text(job: Job, process: JobProcess, text: TracebackText) -> RootException:
    at_s = process.end.at_s if process.end.at_s is not None else process.began_s
    raised = ExceptionRecord(
        how=ExceptionSource.OUTPUT,
        at_s=at_s,
        type=text.type,
        message=text.message,
        path=text.frames,
        user_path=user_frames(text.frames),
    )
    return _chained(job, process, raised, text)


def _with_chain(job: Job, process: JobProcess, raised: ExceptionRecord) -> RootException:
    short = raised.type.rpartition(".")[2]
    first_line = raised.message.partition("\n")[0][:200]
    for text in reversed(tracebacks(written_by(job, process), job.homes)):
        if text.type.rpartition(".")[2] == short and text.message.startswith(first_line):
            return _chained(job, process, raised, text)
    return _chained(job, process, raised, None)


def _chained(job: Job, process: JobProcess, raised: ExceptionRecord, text: TracebackText | None) -> RootException:
    frames = raised.user_path
    if raised.type in _BAD_SYNTAX:
        frames = _syntax_frames(raised, text) or frames
    earlier = text.earlier.first if text is not None and text.earlier is not None else None
    return RootException(
        process=process,
        type=raised.type,
        message=raised.message,
        frames=frames,
        path=raised.path,
        at_s=raised.at_s,
        how=raised.how,
        before=user_frames(earlier.frames) if earlier is not None else (),
        before_text=_shown(earlier),
        before_first=earlier is not None and _is_wrapped(job, frames, raised, text),
    )


def _shown(text: TracebackText | None) -> str:
    if text is None:
        return ""
    return f"{text.type}: {text.message}" if text.message else text.type


def _is_wrapped(job: Job, frames: Sequence[Frame], raised: ExceptionRecord, text: TracebackText | None) -> bool:
    """Whether an exception only follows from an earlier one: raised in its handler, or by a clean-up that needs peers.

    So does one of a handler or a `finally` that would have raised the earlier one again. Where the handler went another
    way, which failed by itself, the later one is the cause.
    """
    if (text is not None and text.raised_from) or LOST_PEER.search(raised.message):
        return True
    statement = job.sources.file(frames[0].file).statement_at(frames[0].line) if frames else None
    return isinstance(statement, ast.Raise) or any(_raises_again(job, frame) for frame in frames)


def _raises_again(job: Job, frame: Frame) -> bool:
    """Whether a line is in what ends an exception only for a moment: a handler that raises at its end, a `finally`."""
    handler = handler_of(job.sources.file(frame.file), frame.line)
    return isinstance(handler, ast.Try) or (handler is not None and ends_in_raise(handler.body))


def _syntax_frames(raised: ExceptionRecord, text: TracebackText | None) -> tuple[Frame, ...]:
    """Returns the line that does not parse, which no call path holds."""
    if text is not None and text.frames and not text.frames[0].function:
        return (text.frames[0], *raised.user_path)
    place = _SYNTAX_PLACE.search(raised.message)
    if place is None:
        return ()
    return (Frame(file=place[1], line=int(place[2]), function=""), *raised.user_path)


def advice(text: str, line: str, module: str) -> str:
    """Returns what to change, given "Type: message", the line blamed and the module that was running ("" unknown)."""
    for pattern, words in _KNOWN:
        if found := pattern.search(text):
            values = [group or "" for group in (found[0], *found.groups())]
            return words.format(*values, module=module or f"the module called at {line}", line=line or "the line above")
    return f"correct {line}, or what it is given" if line else "run it again for all of its output"
