"""What a job left behind: the files of its agents and faulthandler's stacks, in one folder.

A record from elsewhere is untrusted: nothing in it is unpickled, no link in it is followed, each file is
read up to a limit, and what cannot be read is listed with its reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostics.analysis.agent_bytes import AgentFileError
from diagnostics.analysis.agent_facts import AgentFile
from diagnostics.analysis.agent_file import decode_agent_file
from diagnostics.analysis.fault_stacks import FaultReport, parse_fault_report
from diagnostics.errors import DoctorError, from_os_error

MAX_FILE_BYTES = 64 << 20  # an agent's file has less than 1 MiB
MAX_FILES = 20_000
AGENT_SITE = Path(__file__).parent / "agent" / "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file of the record that tells nothing, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The record of one job. `faults` holds faulthandler's reports by the name of the agent's file."""

    folder: Path
    agents: tuple[AgentFile, ...]  # by start
    faults: Mapping[str, FaultReport]
    unreadable: tuple[Unreadable, ...]

    @classmethod
    def load(cls, folder: Path) -> RunRecord:
        """Reads what the agents left in `folder`. Raises DoctorError where it cannot be listed."""
        agents, unreadable, faults = [], [], {}
        for path in _entries(folder):
            try:
                if path.suffix == ".bin":
                    agents.append(read_agent_file(path))
                elif path.suffix == ".txt":
                    report = parse_fault_report(_read(path).decode("utf-8", "replace"))
                    if report is not None:
                        faults["agent-" + path.stem.removeprefix("stacks-") + ".bin"] = report
                else:
                    raise AgentFileError(f"no agent's file could be reserved: {path.suffix[1:]}")
            except (AgentFileError, OSError) as error:
                unreadable.append(Unreadable(name=path.name, reason=str(error)))
        agents.sort(key=lambda agent: (agent.start_ticks, agent.started_ns))
        return cls(folder=folder, agents=tuple(agents), faults=faults, unreadable=tuple(unreadable))

    def save(self, folder: Path) -> None:
        """Copies the record's files into `folder`, which only its owner may enter. Raises DoctorError."""
        make_record_folder(folder)
        for path in _entries(self.folder):
            try:
                data = _read(path)
            except (AgentFileError, OSError):
                continue  # listed in `unreadable`; it stays where it is
            try:
                (folder / path.name).write_bytes(data)
            except OSError as error:
                raise from_os_error(error, action="cannot save the record", path=folder) from error

    def of_pid(self, pid: int) -> AgentFile | None:
        """The latest program that ran under this pid."""
        return next((agent for agent in reversed(self.agents) if agent.pid == pid), None)

    def of_rank(self, rank: int) -> AgentFile | None:
        """The latest process of this rank that is not itself a child of one: not a data worker, not a helper."""
        same = [agent for agent in self.agents if agent.rank == rank]
        pids = {agent.pid for agent in same}
        mains = [agent for agent in same if agent.parent_pid not in pids and agent.forked_from not in pids]
        return mains[-1] if mains else None

    def children_of(self, agent: AgentFile) -> tuple[AgentFile, ...]:
        """The watched processes that `agent` started or forked."""
        return tuple(child for child in self.agents if agent.pid in (child.parent_pid, child.forked_from))

    def fault_of(self, agent: AgentFile) -> FaultReport | None:
        """What faulthandler wrote when this process died."""
        return self.faults.get(agent.name)


def read_agent_file(path: Path) -> AgentFile:
    """Returns what one agent wrote. Raises AgentFileError with the reason, OSError where it cannot be read."""
    return decode_agent_file(_read(path), path.name)


def make_record_folder(folder: Path) -> Path:
    """Makes a folder that only its owner may enter, for agents to write into. Raises DoctorError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise from_os_error(error, action="cannot make the record folder", path=folder) from error
    return folder


def agent_environment(
    folder: Path, *, deep: bool = False, stacks_after_s: float | None = None, pythonpath: str | None = None
) -> dict[str, str]:
    """Returns the variables that put a child under the agent, which writes into `folder`.

    `deep` names modules in backward too; after `stacks_after_s` seconds each process writes its stacks.
    `pythonpath` is the child's own search path, by default this process's.
    """
    rest = os.environ.get("PYTHONPATH", "") if pythonpath is None else pythonpath
    path = f"{AGENT_SITE}{os.pathsep}{rest}" if rest else str(AGENT_SITE)
    timed = {} if stacks_after_s is None else {"UPS_DOCTOR_STACKS_AFTER_S": f"{stacks_after_s:.3f}"}
    return {
        "PYTHONPATH": path,
        "UPS_DOCTOR_DIR": str(folder.absolute()),
        "UPS_DOCTOR_DEEP": "1" if deep else "0",
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


def _read(path: Path) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise AgentFileError("not a regular file")
        if facts.st_size > MAX_FILE_BYTES:
            raise AgentFileError(f"{facts.st_size} bytes, the limit is {MAX_FILE_BYTES}")
        return file.read(MAX_FILE_BYTES)
