"""Which processes train on after the job's command has ended: `nohup torchrun ... &` at the end of a script."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from diagnostics.dynamic.job.process_kinds import LAUNCHER_MODULES, LAUNCHERS, MULTIPROCESSING
from diagnostics.dynamic.job.rank_inference import script_of
from diagnostics.machine.processes.job_processes import Member
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.agent_data import AgentData
from diagnostics.record.record import read_agent_file
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import steps_an_optimizer
from diagnostics.static.program.source_file import SourceFile, imported_files

_LIBRARY = b"libtorch"
_IMPORTS = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:torch|lightning|pytorch_lightning|accelerate|deepspeed)\b", re.M
)
_MADE_TO_TRAIN = ("optimizer", "ddp")  # events of an agent
_MOST_BYTES = 1 << 20
_MOST_FILES = 20  # beside a script


def background_jobs(members: Iterable[Member], agents: Path, tied: Collection[int]) -> list[int]:
    """Returns the pids of living launchers, and of living programs that train or are about to.

    Of those that are `tied` to the job, and would be ended, also what has merely loaded torch or is about to: the
    others may be services, which stay whether anybody watches them or not.

    None of a program of which another process has ended already: what is left of a job that is over is no training
    in the background. Nor what multiprocessing started, workers that outlived their rank, unless it made steps.
    """
    known = list(members)
    over = {_program(one) for one in known if one.ended_s is not None}
    living = [one for one in known if one.ended_s is None and _program(one) and _program(one) not in over]
    return [one.pid for one in living if trains(one, agents) or (one.pid in tied and _uses_torch(one, agents))]


def trains(member: Member, agents: Path) -> bool:
    """Whether a living process is a launcher of ranks, has made steps, or was made to: by its objects or its source."""
    if _is_launcher(member):
        return True
    agent = _agent(member, agents)
    if agent is not None and agent.steps.count:
        return True
    if _is_worker(member, agent):
        return False
    made = agent is not None and any(event.kind in _MADE_TO_TRAIN for event in agent.events)
    return made or (_uses_torch(member, agents) and _has_a_training(_script(member)))


def _program(member: Member) -> str:
    return " ".join(member.argv[1:3]) if _is_launcher(member) else script_of(member.argv)


def _is_launcher(member: Member) -> bool:
    words = member.argv[:4]
    modules = [after for word, after in zip(words, member.argv[1:5], strict=False) if word == "-m"]
    return any(word.rpartition("/")[2] in LAUNCHERS for word in words[:2]) or any(
        LAUNCHER_MODULES.match(module) for module in modules
    )


def _agent(member: Member, agents: Path) -> AgentData | None:
    try:
        return read_agent_file(agents / f"agent-{member.pid}-{member.start_ticks}.bin")
    except (OSError, AgentFileError):  # it has just begun, or is not watched
        return None


def _is_worker(member: Member, agent: AgentData | None) -> bool:
    return (agent is not None and bool(agent.forked_from)) or any(MULTIPROCESSING.search(word) for word in member.argv)


def _uses_torch(member: Member, agents: Path) -> bool:
    """Whether it has loaded torch, or its script is about to, which takes seconds from its start."""
    if _is_worker(member, _agent(member, agents)):
        return False
    return _LIBRARY in _read(Path(f"/proc/{member.pid}/maps")) or bool(_IMPORTS.search(_read(_script(member))))


def _script(member: Member) -> Path:
    """Returns the file that Python runs; of a module, the one that its name means in the folder it started in."""
    script = script_of(member.argv)
    name = script if script.endswith(".py") else f"{script.replace('.', '/')}.py"
    return Path(member.cwd or "/") / name


@functools.lru_cache(maxsize=64)
def _has_a_training(script: Path) -> bool:
    """Whether a script, or a file beside it that it imports, calls what only a training calls."""
    program = SourceFile(script)
    beside = [name for name in dict.fromkeys(imported_files(str(script), program)) if os.path.isfile(name)]  # noqa: PTH113
    files = [program, *(SourceFile(Path(name)) for name in beside[:_MOST_FILES])]
    try:
        return any(_is_training(node) for file in files if file.tree is not None for node in walk(file.tree))
    except RecursionError:  # thousands of calls in one expression
        return False


def _is_training(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    return steps_an_optimizer(node) or name in ("backward", "fit") or name.endswith("Trainer")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:  # it has just ended
        return b""
