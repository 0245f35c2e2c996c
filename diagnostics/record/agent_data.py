"""What an agent's file says about its process, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes, home
from diagnostics.record.batch_data import BatchSource
from diagnostics.record.step_timings import Timings

GROUP_MADE = "process-group"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleEvent:
    """One rare event. `value` is an exit status or, for what was made, the nanoseconds it took."""

    sequence: int  # one order over everything the process recorded
    seconds: float  # since the agent started
    kind: str
    text: str
    value: int
    thread: int
    path: tuple[Frame, ...]  # innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleName:
    """A module by its dotted path below the outermost module that was called, "" for that one itself."""

    path: str
    class_name: str
    root_class: str

    @property
    def shown(self) -> str:
        """The path, or the class where there is none."""
        return self.path or self.class_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleEntry:
    """A module was entered, in forward or (deep mode) in backward."""

    sequence: int
    module: ModuleName
    backward: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """A constructor began. The first `own` frames of `path` are its own; 0 where the class is a library's."""

    sequence: int
    class_name: str
    path: tuple[Frame, ...]
    own: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenModules:
    """The modules open in one thread, outermost first, and the innermost one an exception came out of."""

    thread: int
    depth: int  # may exceed the modules recorded
    modules: tuple[ModuleName, ...]
    left_by_exception: ModuleName | None
    left_at: int  # sequence, its low 32 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveCall:
    """One call of torch.distributed from Python, in the order in which this process made them."""

    sequence: int
    # The group's own counter on entry, which also counts DDP's and FSDP's C++ calls; -1 unknown. Of a collective it is
    # the same on all ranks: what not all of them make (send, recv) is subtracted.
    number: int
    op: str  # all_reduce, broadcast, send, barrier, new_group...
    group: str
    shape: str  # "8x3", of the first tensor; "" where there is none
    dtype: str
    root: int | None  # src or dst
    path: tuple[Frame, ...]  # innermost first
    entered_s: float
    left_s: float | None  # None: still inside when the file was last written
    asynchronous: bool = False  # left before it was done; a later call "wait" has the same number
    failed: bool = False  # left by an exception
    thread: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupProgress:
    """How far this process got in one process group: the calls that all its ranks make alike, no send or recv."""

    group: str
    ranks: tuple[int, ...]
    calls: int
    rolling_hash: int  # over what must agree of each call (op, elements, dtype, root), in order
    checkpoints: tuple[tuple[int, int], ...] = ()  # (calls, rolling hash) of earlier times, oldest first
    uneven: int = 0  # what the group's own counter has counted that not all of its ranks make, less what it left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Optimizer steps of this process; `durations_s` are the times between the latest ones, oldest first.

    Of several optimizers those of the busiest. A job that updates its parameters by hand has backward passes only.
    """

    count: int = 0
    first_s: float | None = None
    last_s: float | None = None
    durations_s: tuple[float, ...] = ()
    backwards: int = 0  # outermost backward passes, also of torch.autograd.grad
    in_backward: bool = False  # inside one when the file was last written
    backward_entered_s: float | None = None  # the latest one
    group_number: int | None = None  # own counter of the default group, when read last; None: unknown
    group_number_at_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentData:
    """All that one process recorded. `problems` says what could not be read."""

    name: str
    pid: int
    parent_pid: int
    start_ticks: int
    forked_from: int  # pid, 0 where the process began with an exec
    started_ns: int  # wall clock
    variables: Mapping[str, str]
    argv: tuple[str, ...]
    cwd: str
    python: str
    agent_folder: str  # where the agent's own code lay; its frames are not the job's
    events: tuple[LifecycleEvent, ...]
    dropped_events: int
    open_modules: tuple[OpenModules, ...]
    entered: tuple[ModuleEntry, ...]  # oldest first
    constructions: tuple[Construction, ...]  # oldest first
    problems: tuple[str, ...]
    collectives: tuple[CollectiveCall, ...] = ()  # the latest, oldest first
    groups: tuple[GroupProgress, ...] = ()
    steps: Steps = Steps()
    timings: Timings = field(default_factory=Timings)  # what its latest steps consisted of
    stdlib: str = ""  # folder of the standard library
    packages: tuple[str, ...] = ()  # folders of installed packages
    executable: str = ""
    sources: tuple[BatchSource, ...] = ()  # what it read from loaders, of its batches file

    @property
    def rank(self) -> int | None:
        """The rank of the process group it made, else the one in its environment."""
        for event in reversed(self.events):
            words = dict(word.partition("=")[::2] for word in event.text.split())
            if event.kind == GROUP_MADE and words.get("rank", "").isdigit():
                return int(words["rank"])
        value = self.variables.get("RANK", "")
        return int(value) if value.isdigit() else None

    def last_event(self, *kinds: str) -> LifecycleEvent | None:
        """The latest event of one of these kinds."""
        return max((event for event in self.events if event.kind in kinds), key=lambda e: e.sequence, default=None)


def homes_of(agents: Iterable[AgentData]) -> Homes:
    """Returns the folders that the processes of a job told of."""
    return NOWHERE.joined(
        home(agent.agent_folder, agent.stdlib, agent.packages, agent.executable, agent.cwd) for agent in agents
    )
