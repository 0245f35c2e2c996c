"""What a process that stands still waits for, in one sentence: an endless loop, a lock, a queue, a child, a terminal.

Read from its stack with library frames, the source of the line it stands at, and what the kernel saw of it over
several looks. Where the thing it waits for is another process of the job, that one is asked in turn. Pure. "Stands at
this line, why is unknown" is an answer.

What to do about each kind of wait that does not end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.observations import ProcessObservations, observations_of
from diagnostics.dynamic.job.stack_classifier import since_start
from diagnostics.dynamic.stall.blocking_lines import Loop, LoopExit, loop_at, loop_exit, nap_of
from diagnostics.dynamic.stall.wait_patterns import WaitPattern, by_call, by_frames, by_source
from diagnostics.static.program.source_file import SourceFile

_LONG_NAP_S = 10.0  # no polling any more
_HOURS_S = 600.0  # nobody sleeps that long to be only late
_AT_A_PROMPT = ("", "read", "poll", "select", "pselect6", "ppoll")  # what input() and a debugger's prompt wait in


class WaitKind(StrEnum):
    """What a process waits for, or does instead of coming."""

    STOPPED = "stopped"
    TRACED = "traced"
    DISK = "disk"
    SWAPPING = "swapping"
    DEBUGGER = "debugger"
    TERMINAL = "terminal"
    DATA_WORKER = "data-worker"
    CHILD = "child"
    FILE_LOCK = "file-lock"
    POLL = "poll"
    LOOP = "loop"
    LOCK = "lock"
    QUEUE = "queue"
    UNREAD = "unread"
    EVENT = "event"
    THREAD = "thread"
    PIPE = "pipe"
    NETWORK = "network"
    FILE = "file"
    SLEEP = "sleep"
    NATIVE = "native"
    IMPORT = "import"
    UNKNOWN = "unknown"


# What ends by itself, as far as one look can tell
_TAKES_TIME = {
    WaitKind.SLEEP,
    WaitKind.LOOP,
    WaitKind.NATIVE,
    WaitKind.DISK,
    WaitKind.SWAPPING,
    WaitKind.IMPORT,
    WaitKind.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitCause:
    """Why a process does not come; `text` follows its name, as in "waits for a lock on a file"."""

    kind: WaitKind
    text: str
    frame: Frame | None = None  # the line of the job's code to look at
    frames: tuple[Frame, ...] = ()  # others, best first: where it stands itself, what led there
    proof: bool = False  # it cannot go on by itself, whatever else is true
    pids: tuple[int, ...] = ()  # processes that it waits for, in turn
    heart: WaitKind | None = None  # what the last of them does; None: the same as `kind`
    endless: bool = False  # a loop without an end, a nap of hours

    @property
    def stuck(self) -> bool:
        """Whether it waits for somebody, so that time alone will not bring it; a slow one works or sleeps."""
        return self.endless or (self.heart or self.kind) not in _TAKES_TIME


def wait_cause(job: Job, process: JobProcess, stack: Sequence[Frame]) -> WaitCause:
    """Returns what a process waits for, as far as it can be told from the process alone."""
    looks = observations_of(job, process)
    stack = since_start(stack) or stack
    found = user_frames(stack, agent_folder=process.agent_folder)
    own = tuple(one for one in found if not one.file.startswith("<"))  # a `python -c` has no line to show
    frame = own[0] if own else None
    reason = (
        _held(looks)
        or _by_word(by_frames(_library_part(stack, frame)), looks)
        or _computing(job, looks, own)
        or _by_line(job, looks, own)
        or _by_word(by_call(looks.call, looks.open_file, looks.argument), looks)
    )
    if reason is None:
        where = f" in {stack[0].function}" if stack and stack[0] != frame else ""
        reason = WaitCause(kind=WaitKind.UNKNOWN, text=f"stands still{where}; nothing tells what it waits for")
    own_place = reason.frame or frame
    others = tuple(dict.fromkeys(one for one in (*reason.frames, *own[:3]) if one != own_place))
    return replace(reason, frame=own_place, frames=others)


def _library_part(stack: Sequence[Frame], frame: Frame | None) -> tuple[Frame, ...]:
    """Returns the frames below the innermost line of the job's own, innermost first."""
    return tuple(stack[: stack.index(frame)] if frame is not None else stack)


def _held(looks: ProcessObservations) -> WaitCause | None:
    """Returns what keeps it from running at all."""
    if looks.stopped and looks.state == "t":
        return WaitCause(kind=WaitKind.TRACED, text="is held by a debugger or tracer outside", proof=True)
    if looks.stopped:
        return WaitCause(kind=WaitKind.STOPPED, text="is stopped by a signal (SIGSTOP, SIGTSTP or SIGTTIN)", proof=True)
    if looks.in_disk_wait:
        file = f" on {looks.open_file}" if looks.open_file else ""
        return WaitCause(kind=WaitKind.DISK, text=f"waits inside the kernel{file}, as on a disk or network file system")
    if looks.swaps and not looks.computes:
        return WaitCause(kind=WaitKind.SWAPPING, text="waits for its own memory pages: the machine swaps")
    return None


def _by_word(word: WaitPattern | None, looks: ProcessObservations) -> WaitCause | None:
    if word is None:
        return None
    kind, file = WaitKind(word.kind), looks.open_file
    text = f"{word.text} {file}" if word.names_file and file else word.text
    if kind is WaitKind.TERMINAL and file.startswith(("pipe:", "socket:")):
        return WaitCause(kind=kind, text="reads standard input, a pipe that nobody writes to or closes", proof=True)
    if kind is WaitKind.TERMINAL and file.startswith(("/dev/pts/", "/dev/tty")):
        text = f"waits for somebody to type at the terminal {file}"
    return WaitCause(kind=kind, text=text, proof=word.proof and looks.call in _AT_A_PROMPT)


def _computing(job: Job, looks: ProcessObservations, own: Sequence[Frame]) -> WaitCause | None:
    """Returns the loop it runs in, or the one call it is inside, where it uses a whole CPU."""
    if not looks.computes or not own:
        return None
    cpu = f"{(looks.cpus or 0.0) * 100:.0f} % of a CPU"
    stacks: list[tuple[Frame, ...]] = [user_frames(one) for one in looks.stacks] or [tuple(own)]
    found = _common_loop(job, stacks)
    if found is None:
        same = len(stacks) > 1 and len({one[:1] for one in stacks}) == 1
        what = "computes at one line in every look" if same else "computes"
        return WaitCause(kind=WaitKind.NATIVE, text=f"{what} and uses {cpu}", frame=None)
    frame, loop = found
    end = loop_exit(loop)
    text = f"loops {end.words}, and uses {cpu}"
    place = replace(frame, line=end.line)
    return WaitCause(kind=WaitKind.LOOP, text=text, frame=place, frames=(frame,), endless=end.never)


def _common_loop(job: Job, stacks: Sequence[tuple[Frame, ...]]) -> tuple[Frame, Loop] | None:
    """Returns the innermost loop of the job's own that all looks stood in, with the frame it is in."""
    paths = [one[::-1] for one in stacks if one]  # outermost first
    shared: list[list[Frame]] = []
    for level in zip(*paths, strict=False):
        if len({(one.file, one.function) for one in level}) > 1:
            break
        shared.append([*level])
        if len(set(level)) > 1:
            break
    for frames in reversed(shared):
        loop = loop_at(job.sources.file(frames[0].file), sorted({one.line for one in frames}))
        if loop is not None:
            return frames[-1], loop
    return None


def _by_line(job: Job, looks: ProcessObservations, own: Sequence[Frame]) -> WaitCause | None:
    """Returns what the innermost line of its own calls."""
    if not own:
        return None
    source = job.sources.file(own[0].file)
    word = by_source(source, own[0].line)
    if word is None or word.kind != WaitKind.SLEEP:
        return _by_word(word, looks)
    nap_s = nap_of(source, own[0].line)
    for frame in own[:3] if nap_s is None or nap_s < _LONG_NAP_S else ():
        ends = _endings_around(job.sources.file(frame.file), frame.line)
        if not ends:
            continue
        asks = next((end for end in ends if not end.by_itself), None)
        if asks is None:  # it goes through something and asks for nothing: that is work with naps in it
            text = f"sleeps {ends[0].words}, one after another"
            return WaitCause(kind=WaitKind.SLEEP, text=text, frame=own[0], frames=(replace(frame, line=ends[0].line),))
        text = f"sleeps and looks again {asks.words}"
        return WaitCause(kind=WaitKind.POLL, text=text, frame=replace(frame, line=asks.line), frames=(own[0],))
    reason = _by_word(word, looks)
    return replace(reason, endless=(nap_s or 0.0) >= _HOURS_S) if reason is not None else None


def _endings_around(source: SourceFile, line: int) -> list[LoopExit]:
    """Returns how the loops around a line end, those of its function, innermost first."""
    ends: list[LoopExit] = []
    loop = loop_at(source, (line,))
    while loop is not None:
        ends.append(loop_exit(loop))
        outer = loop_at(source, (loop.lineno,))
        loop = outer if outer is not None and outer.lineno < loop.lineno else None
    return ends


_ADVICE = {
    WaitKind.STOPPED: (
        "find out who stopped the process (kill -STOP, Ctrl-Z, a terminal that it read in the background)"
    ),
    WaitKind.TRACED: "detach the debugger or tracer",
    WaitKind.DISK: "see whether the disk or network file system answers: dmesg, df, iostat",
    WaitKind.SWAPPING: "let the job use less memory, or run fewer processes on this machine",
    WaitKind.DEBUGGER: "take the breakpoint out of a job that runs without a terminal",
    WaitKind.TERMINAL: "let no rank read standard input: take the answer from an option, or give it stdin=DEVNULL",
    WaitKind.DATA_WORKER: "look at what the worker does there; a DataLoader(timeout=...) turns the wait into an error",
    WaitKind.CHILD: "give the wait a timeout, and see what the process it started waits for",
    WaitKind.FILE_LOCK: "let one rank take the lock, or give it a timeout, and call no collective while it is held",
    WaitKind.POLL: "give the loop a deadline, and see whether what it waits for can come at all",
    WaitKind.LOOP: "give the loop a limit on its turns; its condition may never change",
    WaitKind.LOCK: "see who holds the lock: a thread that waits for this one, or the same thread a second time",
    WaitKind.QUEUE: "give the queue's call a timeout, and see whether who should answer still lives",
    WaitKind.EVENT: "give the wait a timeout, and see who should end it",
    WaitKind.THREAD: "look at what the thread does; give join() a timeout",
    WaitKind.PIPE: "see whether the process at the other end lives, and give the wait a timeout",
    WaitKind.NETWORK: "give the request a timeout, and let one rank download before the others go on",
    WaitKind.FILE: "see what the file is (a FIFO without a writer, a mount that does not answer)",
    WaitKind.UNREAD: "get() everything out of the queue before join(): a process that has put more into it than a pipe "
    "takes ends only when that was read",
    WaitKind.SLEEP: "see why the rank sleeps here while its peers go on",
    WaitKind.NATIVE: "see how long this call may take on this much data, and whether every rank makes it",
    WaitKind.IMPORT: "import the module before threads are started",
}


def advice(reason: WaitCause | None, line: str) -> str:
    """Returns what to do, beginning with the line."""
    kind = reason.kind if reason is not None else None
    if reason is not None and reason.heart is WaitKind.UNREAD:
        kind = reason.heart
    known = _ADVICE.get(kind) if kind is not None else None
    if known is None:
        return f"look at what {line or 'the rank'} waits for, and whether every rank reaches it"
    return f"{line}: {known}" if line else known
