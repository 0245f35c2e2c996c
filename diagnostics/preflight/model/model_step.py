"""The job's own modules cannot be built and stepped once on every rank.

What it does: starts the ranks under the agent and lets the trainer's adapter build its real modules, move
them, wrap them, and take one forward, backward and optimizer step. A rank that dies is named with its
module, phase and line, also where a signal killed it: the agent's file survives that.

Why it matters: a launcher reports `exitcode: -11, error_file: <N/A>` for a crash in native code, and often
names another rank, the one that lost its peer.

Example: `rank 1 died of SIGSEGV in the constructor of levels.1.attention (Attention) at model.py:27`.

Fix: look at the line named. A crash in native code has its cause in what that line calls and hands over.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diagnostics.adapter.answers import USAGE_EXIT, ModelAnswer, adapter_argv, model_answers, read_answer
from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Evidence, Finding, Role, Severity
from diagnostics.core.wording import last_line, shown_ranks
from diagnostics.dynamic.failures.rank_findings import alike, rank_finding
from diagnostics.dynamic.job.rank_ends import RankOutcome, culprits
from diagnostics.machine.contract import Machine
from diagnostics.preflight import adapter_ranks
from diagnostics.preflight.parameter_counts import disagreeing
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.record.record import RunRecord, agent_environment, make_record_folder

CODE = "P701"
NAME = "model-step"
STAGE = Stage.MODEL
REQUIRES = ()
STACKS_BEFORE_DEADLINE = 0.9  # the share of the deadline after which stuck ranks write their stacks


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns sizes and construction seconds by rank, or one finding for each way a rank failed."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    deadline_s = config.thresholds.model_deadline_s
    folder = _fresh_folder(config.record_dir / "agent")
    argv = adapter_argv(config.python, config.job, "model", "--result", str(read_answer(config.record_dir, "model")))
    agent = agent_environment(
        folder,
        deep=True,
        stacks_after_s=deadline_s * STACKS_BEFORE_DEADLINE,
        pythonpath=config.job.env.get("PYTHONPATH", machine.environ.get("PYTHONPATH", "")),
    )
    results = adapter_ranks.run(machine, config, argv, deadline_s=deadline_s, env=config.job.env, agent=agent)
    record = RunRecord.load(folder)
    ends = []
    for result in results:
        watched = record.of_pid(result.pid)
        ends.append(RankOutcome.of(result, watched, record.fault_of(watched) if watched is not None else None))
    answers = [answer for answer in model_answers(config.record_dir, config.nproc) if answer is not None]
    findings = _findings(ends, answers, _repeated(config.job, config.nproc), _bisected(config.job, config.nproc))
    return ProbeResult(title=_title(answers, config.nproc), findings=findings, measured=_measured(answers, ends))


def _fresh_folder(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return make_record_folder(folder)


def _findings(
    ends: Sequence[RankOutcome], answers: Sequence[ModelAnswer], rerun: str, bisection: str
) -> tuple[Finding, ...]:
    refused = [end for end in ends if end.returncode == USAGE_EXIT and end.exception is None]
    if refused:
        return (_refused(refused, rerun),)
    # Ranks whose parameters differ break in the wrap: parameters-agree names the cause.
    role = Role.CASCADE if disagreeing(answers) else Role.ROOT
    told = [rank_finding(CODE, group, rerun=rerun, role=role) for group in alike(culprits(ends))]
    return tuple(_with_bisection(finding, bisection) for finding in told)


def _with_bisection(finding: Finding, command: str) -> Finding:
    """Returns the finding with the command that finds the smallest module, unless somebody else ended the rank."""
    if finding.fix is None or finding.name == "killed-externally":
        return finding
    return replace(finding, fix=replace(finding.fix, commands=(*finding.fix.commands, command)))


def _repeated(job: JobDescription, nproc: int) -> str:
    """Returns the command line that runs this stage again."""
    words = ["ups-doctor", "preflight", str(job.config), "--stages", "model", "--nproc", str(nproc), *_sets(job)]
    return shlex.join(words)


def _bisected(job: JobDescription, nproc: int) -> str:
    """Returns the command line that finds the smallest module that fails."""
    return shlex.join(["ups-doctor", "bisect-model", str(job.config), "--nproc", str(nproc), *_sets(job)])


def _sets(job: JobDescription) -> list[str]:
    return [part for override in job.overrides for part in ("--set", override)]


def _refused(ends: Sequence[RankOutcome], rerun: str) -> Finding:
    said = last_line(ends[0].stderr)
    return Finding(
        code=CODE,
        name="config-refused",
        severity=Severity.ERROR,
        title=said or f"the adapter refused the configuration on {shown_ranks([end.rank for end in ends])}",
        where=shown_ranks([end.rank for end in ends]),
        evidence=(Evidence(source=rerun, observed=said or "exit code 2", expected="exit code 0"),),
    )


def _title(answers: Sequence[ModelAnswer], nproc: int) -> str:
    if not answers:
        return "no rank reported its modules"
    first = answers[0]
    slowest = max(answer.seconds_of("construct") for answer in answers)
    title = f"{first.parameters:,} parameters, {first.bytes / 1e6:.1f} MB, built in {slowest:.2f} s"
    tops = [module for module in first.modules if module.path and "." not in module.path]
    largest = max(tops, key=lambda module: module.bytes, default=None)
    if largest is not None and len(tops) > 1:
        title += f" (most: {largest.path or largest.class_name}, {largest.bytes / 1e6:.1f} MB)"
    return f"{title}; stepped on {len(answers)} of {nproc} ranks" if len(answers) < nproc else f"{title}, one step each"


def _measured(answers: Sequence[ModelAnswer], ends: Sequence[RankOutcome]) -> dict[str, object]:
    if not answers:
        return {}
    modules = sorted(answers[0].modules, key=lambda module: (-module.seconds, -module.bytes))[:5]
    return {
        "parameters": answers[0].parameters,
        "bytes": answers[0].bytes,
        "construct_seconds_by_rank": {str(answer.rank): answer.seconds_of("construct") for answer in answers},
        "phase_seconds": dict(answers[0].phases),
        "slowest_modules": [
            {"path": one.path, "class": one.class_name, "seconds": one.seconds, "bytes": one.bytes} for one in modules
        ],
        "unwatched_ranks": [end.rank for end in ends if end.agent is None],
    }
