"""One job's process, put together once from its record; signatures read this and nothing else.

`job_builder.py` makes it. All times `*_s` are seconds since the job started. Frames are innermost first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.core.frames import location
from diagnostics.dynamic.job.last_activity import LastActivity
from diagnostics.record.agent_data import AgentData
from diagnostics.record.flight_recorder import FlightEntry
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.process_samples import Sample
from diagnostics.record.stacks import AgentStacks, FaulthandlerLog
from diagnostics.record.step_stacks import SeenStack
from diagnostics.record.supervisor_facts import SAVED_PHASE, START_AGAIN, End, SupervisorFacts
from diagnostics.record.usage import Usage
from diagnostics.static.program.source_file import SourceStore


class ProcessRole(StrEnum):
    """What a process is in its job."""

    LAUNCHER = "launcher"  # torchrun, accelerate, deepspeed, a script that spawns ranks
    RANK = "rank"
    DATA_WORKER = "data-worker"  # a DataLoader's
    HELPER = "helper"  # anything else that a rank or a launcher started
    SHELL = "shell"  # bash run.sh, make, srun


class ExceptionSource(StrEnum):
    """How an exception came to be seen; what was caught is evidence only where work is missing."""

    UNCAUGHT = "uncaught"  # ended its process
    THREAD = "thread"  # ended its thread
    UNRAISABLE = "unraisable"  # in __del__ or a callback
    SPAWN = "spawn"  # torch.multiprocessing.spawn or multiprocessing took it and ended the process
    WORKER = "worker"  # a DataLoader's worker sent it to its rank
    LOGGED = "logged"  # user code handed it to logging
    PRINTED = "printed"  # user code handed it to traceback
    CAUGHT = "caught"  # seen by sys.monitoring only
    UNASKED = "unasked"  # kept in a future whose result nobody had asked for when the process ended well
    FORWARD = "forward"  # came out of a model, a loader or a backward pass and ended nothing: somebody caught it
    HELD = "held"  # on its way or handled while the rank began a call of torch.distributed
    OUTPUT = "output"  # read from what the process wrote: no agent saw it


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionRecord:
    """One exception."""

    how: ExceptionSource
    at_s: float
    type: str  # "RuntimeError", qualified where it is no builtin
    message: str
    path: tuple[Frame, ...]  # all that was recorded, library frames too
    user_path: tuple[Frame, ...]
    thread: int = 0
    sequence: int = 0  # among all events of its process; 0 where read from output

    @property
    def text(self) -> str:
        """Type and message, as Python's last line has it."""
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFailure:
    """A file that could not be loaded or saved: torch.load, numpy.load, h5py.File, torch.save..."""

    at_s: float
    function: str
    file: str
    error: str
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSent:
    """A signal that a Python process of the job sent: os.kill, os.killpg, Popen.terminate, Process.terminate."""

    at_s: float
    sender_pid: int
    target_pid: int
    signal: int
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProcess:
    """One process of the job. `agent` is None where it was not watched."""

    pid: int
    start_ticks: int
    parent_pid: int
    argv: tuple[str, ...]
    cwd: str
    part: ProcessRole
    rank: int | None  # a data worker has its rank's
    restart: int  # TORCHELASTIC_RESTART_COUNT, or how many earlier processes had this rank
    began_s: float
    end: End
    ended_by: str  # "" by itself | doctor | launcher | "pid 123" | unknown
    agent: AgentData | None
    fault: FaulthandlerLog | None
    death: LastActivity | None  # where it stood when it failed; None where it did not fail or nothing tells
    raised: tuple[ExceptionRecord, ...]  # by time
    loads: tuple[LoadFailure, ...]
    stdout: str  # its own copy, head and tail; "" where it could not be told apart
    stderr: str
    stacks: tuple[tuple[Frame, ...], ...] = ()  # of its threads, captured from outside; the main thread first
    samples: tuple[Sample, ...] = ()  # what it did while its job stood still, by time
    native: tuple[str, ...] = ()  # "libfoo.so: bar()" of the crashed thread, from a core dump
    threads: AgentStacks | None = None  # its Python stacks as its agent wrote them last, when it was asked
    flight: tuple[FlightEntry, ...] = ()  # its collectives as torch's flight recorder knew them then, oldest first
    prints: ParameterPrints = field(default_factory=ParameterPrints)  # samples of its parameters and gradients
    step_stacks: tuple[SeenStack, ...] = ()  # where its main thread was seen while its job trained slowly

    @property
    def agent_folder(self) -> str:
        """Where the agent's own files lie, "" where it was not watched."""
        return self.agent.agent_folder if self.agent is not None else ""

    @property
    def failed(self) -> bool:
        """Died of a signal or ended with a code that means failure."""
        ended_badly = self.end.signal is not None or self.end.exit_code not in (0, None)
        return ended_badly and not self.saved_to_start_again

    @property
    def saved_to_start_again(self) -> bool:
        """Whether it ended with 75 after it had said that it was asked to stop, and saved."""
        events = self.agent.events if self.agent is not None and self.end.exit_code == START_AGAIN else ()
        return any(event.kind == "phase" and event.text == SAVED_PHASE for event in events)

    @property
    def uncaught(self) -> ExceptionRecord | None:
        """The exception that ended the process."""
        return next(
            (
                one
                for one in reversed(self.raised)
                if one.how in (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN, ExceptionSource.OUTPUT)
            ),
            None,
        )

    @property
    def steps(self) -> int:
        """Optimizer steps it made."""
        return self.agent.steps.count if self.agent is not None else 0

    @property
    def output(self) -> str:
        """What it wrote, stderr last."""
        return f"{self.stdout}\n{self.stderr}" if self.stdout else self.stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job: its facts, its processes by start, and who is to blame among the ranks.

    `culprits` are the ranks that failed by their own doing, `victims` those that were ended by their launcher or only
    lost their peers. No majority votes: two ranks are enough. `ranks` holds the last incarnation of each rank.
    """

    facts: SupervisorFacts
    processes: tuple[JobProcess, ...]
    ranks: tuple[JobProcess, ...]
    culprits: tuple[JobProcess, ...]
    victims: tuple[JobProcess, ...]
    sent: tuple[SignalSent, ...]
    output: str  # all that the job wrote, as on the terminal; head and tail
    output_by_rank: Mapping[int, str]
    sources: SourceStore
    homes: Homes = NOWHERE
    usage: Usage = field(default_factory=Usage)  # what processes and the machine used while it ran
    extra: Mapping[str, str] = field(default_factory=dict)  # other texts by name: NCCL's logs, launcher's error files
    _by_rank: dict[int | None, JobProcess] = field(init=False, repr=False, compare=False)
    _by_pid: dict[int, JobProcess] = field(init=False, repr=False, compare=False)
    _children: dict[int, list[JobProcess]] = field(init=False, repr=False, compare=False)
    _programs: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Thousands of ranks and processes are asked for one after the other.
        object.__setattr__(self, "_by_rank", {process.rank: process for process in reversed(self.ranks)})
        object.__setattr__(self, "_by_pid", {process.pid: process for process in self.processes})
        children: dict[int, list[JobProcess]] = {}
        for process in self.processes:
            children.setdefault(process.parent_pid, []).append(process)
        object.__setattr__(self, "_children", children)
        programs = sum(one.part in (ProcessRole.RANK, ProcessRole.HELPER) for one in self.processes)
        object.__setattr__(self, "_programs", programs)

    @property
    def failed(self) -> bool:
        """Whether the job ended with a code that means failure, a signal, or was ended after a stall."""
        if self.facts.ended_for_hanging or self.facts.signal is not None:
            return True
        if self.facts.exit_code == START_AGAIN and any(one.saved_to_start_again for one in self.processes):
            return False
        return self.facts.exit_code not in (0, None)

    @property
    def world_size(self) -> int | None:
        """The ranks there should have been, None where nothing tells."""
        said = [process.agent.variables.get("WORLD_SIZE", "") for process in self.ranks if process.agent is not None]
        sizes = [int(size) for size in said if size.isdigit()]
        return max(sizes, default=None) or (len(self.ranks) or None)

    @property
    def agent_folders(self) -> frozenset[str]:
        """Where the agent's own code lay; its frames are not the job's."""
        return frozenset(process.agent.agent_folder for process in self.processes if process.agent is not None)

    @property
    def has_one_program(self) -> bool:
        """Whether at most one process is a rank, or a helper that could have written in its place."""
        return self._programs <= 1

    def of_rank(self, rank: int) -> JobProcess | None:
        """The last process of one rank."""
        return self._by_rank.get(rank)

    def of_pid(self, pid: int) -> JobProcess | None:
        """The last process with this pid."""
        return self._by_pid.get(pid)

    def children_of(self, process: JobProcess) -> tuple[JobProcess, ...]:
        """The processes that `process` started."""
        return tuple(one for one in self._children.get(process.pid, ()) if one.began_s >= process.began_s)

    def line(self, frame: Frame) -> str:
        """Returns "train.py:31", relative to the job's folder."""
        return location(frame, self.facts.cwd)
