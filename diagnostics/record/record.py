"""What a job left behind, in one folder: agents' files, faulthandler's stacks, and of a watched job more.

A watched job's folder holds `job.json`, `agents/`, `output/`, `captures/` and `sources/` (see "A watched job" in
ARCHITECTURE.md); where only agents ran, their files lie in the folder itself. A record from elsewhere is untrusted:
nothing in it is unpickled, no link in it is followed, each file is read up to a limit, and what cannot be read is
listed with its reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from diagnostics.core.errors import DoctorError, from_os_error
from diagnostics.core.frame_owners import Homes
from diagnostics.core.own_folders import AGENT
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.agent_data import AgentData, homes_of
from diagnostics.record.agent_file import decode_agent_file
from diagnostics.record.batch_file import NAME_BEGIN, decode_batch_file
from diagnostics.record.flight_recorder import FlightEntry, flight_from_json
from diagnostics.record.parameter_prints import ParameterPrints, prints_from_text
from diagnostics.record.stacks import AgentStacks, FaulthandlerLog, frames_from_json, parse_fault_report
from diagnostics.record.supervisor_facts import SupervisorFacts
from diagnostics.record.untrusted_files import (
    MAX_FILES,
    names_in,
    read_bytes,
    read_job,
    read_json,
    read_output,
    read_text,
)

SOURCE_INDEX = "index.json"  # in sources/: {"/the/path/it/had.py": "name of the copy"}
MACHINE_WRITTEN = (".json", ".jsonl")  # captures whose lines are values; all else is what programs wrote
BEFORE = (
    "before"  # in a record: another one, of the state before the first signal (supervisor/capture/pre_signal_state.py)
)
AGENT_SITE = AGENT / "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file of the record that tells nothing, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The record of one job. `faults` holds faulthandler's reports by the name of the agent's file.

    `job` is None where no supervisor wrote one. Texts are bounded: of a long one, head and tail.
    """

    folder: Path
    agents: tuple[AgentData, ...]  # by start
    faults: Mapping[str, FaulthandlerLog]
    unreadable: tuple[Unreadable, ...]
    job: SupervisorFacts | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)  # by file name: "all.txt", "12-345.stderr.txt"
    captures: Mapping[str, str] = field(default_factory=dict)  # by file name: "core-12.txt"
    sources: Mapping[str, str] = field(default_factory=dict)  # by the path the file had
    flights: tuple[str, ...] = ()  # names of the flight recorders' dumps
    flight_entries: Mapping[str, tuple[FlightEntry, ...]] = field(default_factory=dict)  # by "PID-START"
    frames: Mapping[str, AgentStacks] = field(default_factory=dict)  # by "PID-START"
    prints: Mapping[str, ParameterPrints] = field(default_factory=dict)  # by "PID-START"

    @classmethod
    def load(cls, folder: Path) -> RunRecord:
        """Reads what the agents left in `folder`. Raises DoctorError where it cannot be listed."""
        agents, unreadable, stacks = [], [], {}
        for path in _entries(agents_folder(folder)):
            try:
                if path.suffix == ".bin":
                    agents.append(read_agent_file(path))
                elif path.suffix == ".txt":
                    stacks["agent-" + path.stem.removeprefix("stacks-") + ".bin"] = read_bytes(path)
                else:
                    raise AgentFileError(f"no agent's file could be reserved: {path.suffix[1:]}")
            except (AgentFileError, OSError) as error:
                unreadable.append(Unreadable(name=path.name, reason=str(error)))
        homes = homes_of(agents)
        told = {name: parse_fault_report(data.decode("utf-8", "replace"), homes) for name, data in stacks.items()}
        faults = {name: report for name, report in told.items() if report is not None}
        agents = [_with_sources(agents_folder(folder), agent, unreadable, homes) for agent in agents]
        agents.sort(key=lambda agent: (agent.start_ticks, agent.started_ns))
        job, reason = read_job(folder / "job.json")
        if reason:
            unreadable.append(Unreadable(name="job.json", reason=reason))
        texts: dict[str, dict[str, str]] = {"output": {}, "captures": {}}
        for part, kept in texts.items():
            for name in names_in(folder / part):
                try:
                    read = read_text if name.endswith(MACHINE_WRITTEN) else read_output
                    kept[name] = read(folder / part / name)
                except (AgentFileError, OSError) as error:
                    unreadable.append(Unreadable(name=f"{part}/{name}", reason=str(error)))
        flights, entries, frames = _answers(agents_folder(folder), unreadable, homes)
        prints = _prints(agents_folder(folder), unreadable, homes)
        return cls(
            folder=folder,
            agents=tuple(agents),
            faults=faults,
            unreadable=tuple(unreadable),
            job=job,
            outputs=texts["output"],
            captures=texts["captures"],
            sources=_sources(folder / "sources"),
            flights=flights,
            flight_entries=entries,
            frames=frames,
            prints=prints,
        )

    def before(self) -> RunRecord | None:
        """Returns the state that was kept before the job was asked to end, None where there is none to be read."""
        folder = self.folder / BEFORE
        if self.job is None or folder.is_symlink() or not (folder / "job.json").is_file():
            return None
        try:
            kept = RunRecord.load(folder)
        except DoctorError:
            return None
        return None if kept.job is None else replace(kept, sources=self.sources)

    def save(self, folder: Path) -> None:
        """Copies the record's files into `folder`, which only its owner may enter. Raises DoctorError."""
        make_record_folder(folder)
        for path in _entries(self.folder):
            try:
                data = read_bytes(path)
            except (AgentFileError, OSError):
                continue  # listed in `unreadable`; it stays where it is
            try:
                (folder / path.name).write_bytes(data)
            except OSError as error:
                raise from_os_error(error, action="cannot save the record", path=folder) from error

    def of_pid(self, pid: int) -> AgentData | None:
        """The latest program that ran under this pid."""
        return next((agent for agent in reversed(self.agents) if agent.pid == pid), None)

    def of_rank(self, rank: int) -> AgentData | None:
        """The latest process of this rank that is not itself a child of one: not a data worker, not a helper."""
        same = [agent for agent in self.agents if agent.rank == rank]
        pids = {agent.pid for agent in same}
        mains = [agent for agent in same if agent.parent_pid not in pids and agent.forked_from not in pids]
        return mains[-1] if mains else None

    def children_of(self, agent: AgentData) -> tuple[AgentData, ...]:
        """The watched processes that `agent` started or forked."""
        return tuple(child for child in self.agents if agent.pid in (child.parent_pid, child.forked_from))

    def fault_of(self, agent: AgentData) -> FaulthandlerLog | None:
        """What faulthandler wrote when this process died."""
        return self.faults.get(agent.name)


def read_agent_file(path: Path) -> AgentData:
    """Returns what one agent wrote. Raises AgentFileError with the reason, OSError where it cannot be read."""
    return decode_agent_file(read_bytes(path), path.name)


def make_private_folder(folder: Path) -> None:
    """Makes a folder that only its owner may enter. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def make_record_folder(folder: Path) -> Path:
    """Makes such a folder for agents to write into. Raises DoctorError."""
    try:
        make_private_folder(folder)
    except OSError as error:
        raise from_os_error(error, action="cannot make the record folder", path=folder) from error
    return folder


def agent_environment(
    folder: Path,
    *,
    deep: bool = False,
    flight: bool = False,
    local_values: bool = False,
    stacks_after_s: float | None = None,
    pythonpath: str | None = None,
) -> dict[str, str]:
    """Returns the variables that put a child under the agent, which writes into `folder`.

    `deep` names modules in backward too; with `flight` a thread of each rank hands out torch's flight recorder when
    asked; `local_values` records those of the frames of an exception; after `stacks_after_s` seconds each process
    writes its stacks. `pythonpath` is the child's own search path, by default this process's.
    """
    rest = os.environ.get("PYTHONPATH", "") if pythonpath is None else pythonpath
    path = f"{AGENT_SITE}{os.pathsep}{rest}" if rest else str(AGENT_SITE)
    timed = {} if stacks_after_s is None else {"UPS_DOCTOR_STACKS_AFTER_S": f"{stacks_after_s:.3f}"}
    return {
        "PYTHONPATH": path,
        "UPS_DOCTOR_DIR": str(folder.absolute()),
        "UPS_DOCTOR_DEEP": "1" if deep else "0",
        **({"UPS_DOCTOR_FLIGHT": "1"} if flight else {}),
        **({"UPS_DOCTOR_LOCALS": "1"} if local_values else {}),
        **timed,
    }


def _entries(folder: Path) -> Iterator[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.startswith(("agent-", "stacks-")))
    except OSError as error:
        raise from_os_error(error, action="cannot read the record", path=folder) from error
    if len(paths) > MAX_FILES:
        raise DoctorError(f"{folder} holds {len(paths)} files of agents, the limit is {MAX_FILES}")
    yield from paths


def agents_folder(folder: Path) -> Path:
    """Returns where the agents' files of a record lie: in `agents/`, or beside each other in the folder."""
    inner = folder / "agents"
    return inner if inner.is_dir() and not inner.is_symlink() else folder


def _answers(
    folder: Path, unreadable: list[Unreadable], homes: Homes
) -> tuple[tuple[str, ...], dict[str, tuple[FlightEntry, ...]], dict[str, AgentStacks]]:
    """Returns what the processes wrote when they were asked: names of flight recorders' dumps, these, and stacks."""
    names = [name for name in names_in(folder) if name.startswith(("flight-", "frames-")) and name.endswith(".json")]
    entries: dict[str, tuple[FlightEntry, ...]] = {}
    frames = {}
    for name in names:
        stem = name.partition("-")[2].removesuffix(".json").removesuffix("-nccl")
        try:
            if name.startswith("frames-"):
                frames[stem] = frames_from_json(read_json(folder / name), homes)
            else:
                entries[stem] = entries.get(stem, ()) + flight_from_json(read_json(folder / name))
        except (AgentFileError, OSError, ValueError) as error:
            unreadable.append(Unreadable(name=name, reason=str(error)))
    return tuple(name for name in names if name.startswith("flight-")), entries, frames


def _prints(folder: Path, unreadable: list[Unreadable], homes: Homes) -> dict[str, ParameterPrints]:
    """Returns the samples of parameters that the ranks left, by process."""
    found = {}
    for name in names_in(folder):
        if name.startswith("prints-") and name.endswith(".jsonl"):
            try:
                found[name[len("prints-") : -len(".jsonl")]] = prints_from_text(read_text(folder / name), homes)
            except (AgentFileError, OSError) as error:
                unreadable.append(Unreadable(name=name, reason=str(error)))
    return found


def _with_sources(folder: Path, agent: AgentData, unreadable: list[Unreadable], homes: Homes) -> AgentData:
    """Returns what an agent told with what its process read from loaders, where it did."""
    name = NAME_BEGIN + agent.name.removeprefix("agent-")
    try:
        return replace(agent, sources=decode_batch_file(read_bytes(folder / name), homes))
    except FileNotFoundError:
        return agent
    except (AgentFileError, OSError) as error:
        unreadable.append(Unreadable(name=name, reason=str(error)))
        return agent


def _sources(folder: Path) -> dict[str, str]:
    """Returns the saved copies of source files by the path they had; what cannot be read is left out."""
    try:
        index = read_json(folder / SOURCE_INDEX)
    except (AgentFileError, OSError, ValueError):
        return {}
    found = {}
    copies = set(names_in(folder))
    for path, name in index.items() if isinstance(index, dict) else ():
        if not isinstance(name, str) or name not in copies:
            continue  # a name that may lead out of the folder
        try:
            found[path] = read_text(folder / name)
        except (AgentFileError, OSError):
            continue
    return found
