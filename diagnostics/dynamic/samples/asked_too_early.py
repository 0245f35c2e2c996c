"""A sampler or data set of the job's own that asks torch for its rank when it is made, before there is a group. Pure.

It takes itself for rank 0 of 1 then, on every rank, and reads everything.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.common_calls import last_common_call
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.samples.training_passes import RankLoader
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name

_ASKS = frozenset(["get_rank", "get_world_size", "is_initialized"])
_WHILE_READ = frozenset(["__iter__", "__next__", "__getitem__", "__len__"])  # by then the group is there
_BEGIN = "process-group-begin"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyQuestion:
    """The class that asked, the job's own frames that made it, the first to be moved, and where the group is made."""

    name: str
    made: tuple[Frame, ...]
    group: Frame | None


def asked_too_early(job: Job, loader: RankLoader) -> EarlyQuestion | None:
    """Returns what was made too early to know its rank; None where the group was there, or where nothing asks."""
    facts = loader.source.facts
    if facts.get("group_at_loader") != "0":
        return None
    asking = {one.name for _, file in job_sources(job, loader.process) for one in _classes(file.tree) if _asks(one)}
    name = next((facts[what] for what in ("sampler", "dataset") if facts.get(what) in asking), None)
    if name is None:
        return None
    path = loader.sampler_at() or loader.built_at()
    agent = loader.process.agent
    events = [event for event in agent.events if event.kind == _BEGIN] if agent is not None else []
    groups = [user_frames(event.path, agent_folder=loader.process.agent_folder) for event in events]
    at = last_common_call(path, groups)
    made = path if at is None else (*path[at:], *reversed(path[:at]))
    return EarlyQuestion(name=name, made=made, group=_in_same_call(groups, path, at))


def _in_same_call(groups: list[tuple[Frame, ...]], path: tuple[Frame, ...], at: int | None) -> Frame | None:
    """Returns the line of the function in which both are called from which the group is made."""
    if at is None:
        return None
    rest = path[at + 1 :]
    inside = (group for group in groups if len(group) > len(rest) and group[len(group) - len(rest) :] == rest)
    return next((group[-len(rest) - 1] for group in inside), None)


def _classes(tree: ast.Module | None) -> list[ast.ClassDef]:
    return [one for one in walk(tree) if isinstance(one, ast.ClassDef)] if tree is not None else []


def _asks(kind: ast.ClassDef) -> bool:
    methods = [one for one in kind.body if isinstance(one, ast.FunctionDef) and one.name not in _WHILE_READ]
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in _ASKS for method in methods for node in walk(method)
    )
