"""Runs a case once: N ranks under the agent, and what each of them left."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diagnostics.adapter.answers import read_json
from diagnostics.bisection.case import Configuration
from diagnostics.bisection.tries.failures import agent_without_ours, report_without_ours
from diagnostics.bisection.tries.rank_runs import RankRun
from diagnostics.bisection.tries.trial_answers import read_rank_answer
from diagnostics.core.own_folders import AGENT, CHILDREN
from diagnostics.dynamic.job.rank_ends import RankOutcome
from diagnostics.machine.contract import Ranks
from diagnostics.machine.facts import MachineError, RankResult
from diagnostics.record.record import RunRecord, agent_environment, make_record_folder
from diagnostics.record.stacks import FaulthandlerLog, parse_fault_report

PROGRAM = CHILDREN / "trial_rank.py"
STACKS_BEFORE_DEADLINE = 0.9  # the share of the deadline after which stuck ranks write their stacks
LATER_THAN_DEADLINE_S = 60.0  # the group's own timeout: a hang shall end by the deadline, with the stacks of all
SET_IN_TIME = ("OMP_NUM_THREADS",)  # what a process that has imported torch can still take up
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+", re.MULTILINE)
# Compiling in the rank itself: no pool of workers that outlives it.
COMPILING = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
IMPORTED_TO_COMPILE = ("torch._inductor.compile_fx",)  # two seconds for each rank of each try


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What one run is given beside its case. `structures` is read, or written where `record` is set."""

    deadline_s: float = 0.0
    idle_s: float = 0.0  # ranks that stand still for so long are past their deadline, 0 for never
    structures: Path | None = None
    record: bool = False
    origin: bool = False  # look for where a value that is no number was first made
    profile: str = ""
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnvironment:
    """Where ranks run: the job's Python, the environment of this process, and what the job adds to it."""

    python: str
    environ: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=dict)


def run_once(
    case: Configuration, asked: RunRequest, ranks: Ranks, around: RunEnvironment
) -> tuple[list[RankRun], float]:
    """Returns how each rank ended and the seconds it took. Raises MachineError, ChildTimeout where none could start.

    Ranks are forked from the warm child, or programs of their own where a GPU or a variable demands it.
    """
    folder = make_record_folder(Path(tempfile.mkdtemp(prefix="ups-doctor-try-")))
    began = time.monotonic()
    try:
        results = _run(case, _request(case, asked, folder), asked, ranks, around, folder)
        return _read(results, folder), time.monotonic() - began
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def may_fork(case: Configuration, ranks: Ranks, around: RunEnvironment) -> bool:
    """Returns whether ranks forked from the warm child are what programs of their own would be."""
    wanted = {**around.env, **dict(case.settings.env)}
    known = all(name in SET_IN_TIME or around.environ.get(name) == value for name, value in wanted.items())
    if not known or case.settings.device != "cpu":
        return False
    try:
        return ranks.torch_facts().executable == around.python
    except MachineError:  # torch does not import: a program's own words say more
        return False


def _run(
    case: Configuration,
    request: Mapping[str, Any],
    asked: RunRequest,
    ranks: Ranks,
    around: RunEnvironment,
    folder: Path,
) -> list[RankResult]:
    world, deadline_s = case.settings.world, asked.deadline_s
    own = {"OMP_NUM_THREADS": str(case.settings.threads), **(COMPILING if case.settings.compile else {})}
    env = {**own, **around.env, **dict(case.settings.env), **_agent(folder, deadline_s, around)}
    if may_fork(case, ranks, around):
        arguments = {"agent": str(AGENT), "request": dict(request)}
        return ranks.run_task(
            "trial",
            world,
            backend=case.settings.backend,
            deadline_s=deadline_s,
            arguments=arguments,
            env=env,
            idle_s=asked.idle_s,
            imports=IMPORTED_TO_COMPILE if case.settings.compile else (),
        )
    file = folder / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    return ranks.run_command([around.python, str(PROGRAM), str(file)], world, deadline_s=deadline_s, env=env)


def _request(case: Configuration, asked: RunRequest, folder: Path) -> dict[str, Any]:
    return {
        **case.as_json(),
        "result": str(folder / "answer-{rank}.json"),
        "structures": str(asked.structures or ""),
        "record": asked.record,
        "origin": asked.origin,
        "profile": asked.profile,
        "memory_bytes": asked.memory_bytes,
        "timeout_s": asked.deadline_s + LATER_THAN_DEADLINE_S,
    }


def _agent(folder: Path, deadline_s: float, around: RunEnvironment) -> dict[str, str]:
    return agent_environment(
        make_record_folder(folder / "agents"),
        deep=True,
        stacks_after_s=deadline_s * STACKS_BEFORE_DEADLINE,
        pythonpath=around.env.get("PYTHONPATH", around.environ.get("PYTHONPATH", "")),
    )


def _read(results: Sequence[RankResult], folder: Path) -> list[RankRun]:
    record = RunRecord.load(folder)
    runs = []
    for result in results:
        agent = record.of_pid(result.pid) or record.of_rank(result.rank)
        fault = (record.fault_of(agent) if agent is not None else None) or _last_stacks(result)
        end = RankOutcome.of(
            result,
            agent_without_ours(agent) if agent is not None else None,
            report_without_ours(fault) if fault is not None else None,
        )
        answer = read_rank_answer(read_json(folder / f"answer-{result.rank}.json"))
        runs.append(RankRun(end=end, answer=answer))
    return runs


def _last_stacks(result: RankResult) -> FaulthandlerLog | None:
    """Returns the stacks that a rank wrote when it was ended, before the time for which its agent had set the clock."""
    found = _THREAD.search(result.stderr) if result.timed_out else None
    return (
        parse_fault_report(f"Timeout (after {result.seconds:.0f} s)!\n{result.stderr[found.start() :]}")
        if found
        else None
    )
