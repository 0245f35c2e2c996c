"""What the supervisor saw of a job, as it stands in the record's job.json. Plain values, no judgement.

The supervisor rewrites the file whenever something changes, so that it tells the truth also where the
supervisor was killed. Readers ignore unknown keys and take defaults for missing ones: a record may come
from another version of the doctor, or from elsewhere. All times `*_s` are seconds since the job started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

VERSION = 1
MOST_OF_A_LIST = 20_000  # a script that starts a program a second does so for five hours
ATTACHED = "attached"  # not ended at all: `ups-doctor attach` looked at it, and it ran on
ENDED_FOR_HANGING = ("stall-timeout", "deadlock")  # why the doctor ends a job by itself
MEASURED = "measured"  # enough steps were made to say why they are slow
START_AGAIN = 75  # sysexits: a job that was asked to stop, and has saved, ends with it
SAVED_PHASE = "saved-to-start-again"  # what its processes mark, so that a 75 of another meaning is a failure
ABORTED = "abort-on"  # the user wanted a job ended that is sure to be wrong or slow


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How one process ended. Both numbers are None where nothing could tell."""

    exit_code: int | None = None
    signal: int | None = None
    at_s: float | None = None
    source: str = ""  # pidfd | parent-wait | supervisor-wait | launcher-log | agent | "" (unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenProcess:
    """One process of the job's tree, as the supervisor saw it."""

    pid: int
    start_ticks: int
    ppid: int = 0
    argv: tuple[str, ...] = ()  # secrets hidden
    variables: Mapping[str, str] = field(default_factory=dict)  # the launcher's: RANK, WORLD_SIZE...
    first_seen_s: float = 0.0
    end: End | None = None  # None: still there when the record was last written


@dataclass(frozen=True, slots=True, kw_only=True)
class SentSignal:
    """A signal that the doctor sent, so that no one else is blamed for it."""

    pid: int
    signal: int
    at_s: float
    why: str  # stall-timeout | deadlock | interrupt | leftover


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A time without progress. `over_s` is when progress came back, None where it never did."""

    began_s: float
    seen_s: float
    over_s: float | None = None
    before_first_step: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedHang:
    """A deadlock that the supervisor proved while the job ran; `dynamic/collectives/wait_for_graph.py` says how."""

    began_s: float  # when the last rank of it began to wait
    proved_s: float
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A capture that was not made, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskState:
    """One file system the job may have written to."""

    path: str
    total_bytes: int
    free_bytes: int
    least_free_bytes: int  # while the job ran
    free_inodes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorFacts:
    """The job as a whole."""

    command: tuple[str, ...]  # as given, secrets hidden
    cwd: str
    started_ns: int  # wall clock
    python: str = ""  # the doctor's own
    ended_s: float | None = None
    exit_code: int | None = None  # of the process the doctor started
    signal: int | None = None
    # itself | stall-timeout | deadlock | interrupt | attached | unknown (the supervisor was killed)
    ended_by: str = "itself"
    processes: tuple[SeenProcess, ...] = ()
    sent: tuple[SentSignal, ...] = ()
    stalls: tuple[Stall, ...] = ()
    proved: tuple[ProvedHang, ...] = ()
    oom_kills: int | None = None  # of the job's memory cgroup while it ran; None: could not be read
    kernel_lines: tuple[str, ...] = ()  # of the kernel log while the job ran: OOM kills, segfaults, Xid
    disks: tuple[DiskState, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)  # nofile, nproc, core, memlock, as; -1 is unlimited
    shm_bytes: int | None = None
    memory_bytes: int | None = None  # of the machine, or of the cgroup where that is smaller
    gpus: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)  # that concern distributed training, secrets hidden
    missing: tuple[Missing, ...] = ()

    @property
    def ended_for_hanging(self) -> bool:
        """Whether the doctor ended it: without progress for the whole stall timeout, or in a proved deadlock."""
        return self.ended_by in ENDED_FOR_HANGING

    @property
    def asked_to_end(self) -> bool:
        """Whether it was asked to end while it may have gone on: by the user, or as --abort-on or perf want it."""
        return self.ended_by in ("interrupt", ABORTED, MEASURED)


def from_json(value: Mapping[str, Any]) -> SupervisorFacts:
    """Returns the facts of a job.json; what has the wrong type counts as missing. Raises ValueError for no object."""
    if not isinstance(value, Mapping):
        raise ValueError("job.json holds no object")
    facts: SupervisorFacts = _object(SupervisorFacts, value, {"command": (), "cwd": "", "started_ns": 0})
    long = {name: len(item) for name, item in value.items() if isinstance(item, list) and len(item) > MOST_OF_A_LIST}
    cut = tuple(
        Missing(what=f"job.json: {name}", why=f"the first and the last {MOST_OF_A_LIST // 2} of {count} are read")
        for name, count in long.items()
        if name in SupervisorFacts.__annotations__
    )
    return replace(facts, missing=(*facts.missing, *cut)) if cut else facts


# Fields that hold objects: what each of them is.
_PARTS: dict[str, type] = {
    "processes": SeenProcess,
    "sent": SentSignal,
    "stalls": Stall,
    "proved": ProvedHang,
    "missing": Missing,
    "disks": DiskState,
    "end": End,
}
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "Mapping": (Mapping,),
    "tuple": (list,),
    "End": (Mapping,),
}


def _object(kind: type, value: Mapping[str, Any], required: Mapping[str, Any]) -> Any:
    known: dict[str, Any] = {}
    for name, annotation in kind.__annotations__.items():
        item = value.get(name)
        if item is not None and _fits(item, annotation):
            known[name] = _value(name, item, annotation)
    missing = {name: default for name, default in required.items() if name not in known}
    return kind(**known, **missing)


def _fits(item: Any, annotation: str) -> bool:
    expected = _TYPES[annotation.partition("|")[0].partition("[")[0].strip()]
    return isinstance(item, expected) and (isinstance(item, bool) == (expected == (bool,)))


def _value(name: str, item: Any, annotation: str) -> Any:
    wanted = int if "int" in annotation else str
    if isinstance(item, list):
        if len(item) > MOST_OF_A_LIST:
            item = item[: MOST_OF_A_LIST // 2] + item[-MOST_OF_A_LIST // 2 :]
        if name in _PARTS:
            return tuple(filter(None, (_part(_PARTS[name], one) for one in item)))
        return tuple(one for one in item if isinstance(one, wanted) and not isinstance(one, bool))
    if isinstance(item, Mapping):
        if name in _PARTS:
            return _part(_PARTS[name], item)
        return {str(key): one for key, one in item.items() if isinstance(one, wanted)}
    return item


def _part(kind: type, value: Any) -> Any:
    """Returns one object of a list; None where it lacks what it cannot be without."""
    if not isinstance(value, Mapping):
        return None
    try:
        return _object(kind, value, {})
    except TypeError:
        return None
