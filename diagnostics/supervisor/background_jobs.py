"""Which processes train on after the job's command has ended: `nohup torchrun ... &` at the end of a script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from diagnostics.dynamic.job.process_kinds import LAUNCHER_MODULES, LAUNCHERS, MULTIPROCESSING
from diagnostics.dynamic.job.rank_inference import script_of
from diagnostics.machine.processes.job_processes import Member
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.record import read_agent_file

_LIBRARY = b"libtorch"
_IMPORTS = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:torch|lightning|pytorch_lightning|accelerate|deepspeed)\b", re.M
)
_MOST_BYTES = 1 << 20


def background_trainings(members: Iterable[Member], agents: Path) -> list[int]:
    """Returns the pids of living launchers, and of living programs that have loaded torch or are about to.

    None of a program of which another process has ended already: what is left of a job that is over is no training
    in the background. Nor what multiprocessing started, workers that outlived their rank, unless it made steps.
    """
    known = list(members)
    over = {_program(one) for one in known if one.ended_s is not None}
    living = [one for one in known if one.ended_s is None and _program(one) and _program(one) not in over]
    return [one.pid for one in living if trains(one, agents)]


def trains(member: Member, agents: Path) -> bool:
    """Whether a living process is a launcher of ranks, or has loaded torch, or is about to."""
    return _is_launcher(member) or _uses_torch(member, agents)


def _program(member: Member) -> str:
    return " ".join(member.argv[1:3]) if _is_launcher(member) else script_of(member.argv)


def _is_launcher(member: Member) -> bool:
    words = member.argv[:4]
    modules = [after for word, after in zip(words, member.argv[1:5], strict=False) if word == "-m"]
    return any(word.rpartition("/")[2] in LAUNCHERS for word in words[:2]) or any(
        LAUNCHER_MODULES.match(module) for module in modules
    )


def _uses_torch(member: Member, agents: Path) -> bool:
    try:
        agent = read_agent_file(agents / f"agent-{member.pid}-{member.start_ticks}.bin")
    except (OSError, AgentFileError):  # it has just begun, or is not watched
        agent = None
    if agent is not None and agent.steps.count:
        return True
    if (agent is not None and agent.forked_from) or any(MULTIPROCESSING.search(word) for word in member.argv):
        return False
    return _LIBRARY in _read(Path(f"/proc/{member.pid}/maps")) or _imports_torch(member)


def _imports_torch(member: Member) -> bool:
    """Whether its script does, which takes seconds from its start."""
    script = script_of(member.argv)
    return script.endswith(".py") and bool(_IMPORTS.search(_read(Path(member.cwd or "/") / script)))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:  # it has just ended
        return b""
