"""Inspects a model: runs it for a few steps in a child, and asks each inspection about what was seen."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnostics.adapter.answers import read_json, refusal
from diagnostics.adapter.description import JobDescription
from diagnostics.core.errors import USAGE_EXIT, DoctorError, UsageError
from diagnostics.core.findings import Finding, Outcome, Status, Verdict
from diagnostics.core.own_folders import CHILDREN, without_own_frames
from diagnostics.core.registry import discover
from diagnostics.core.wording import sentence_of
from diagnostics.dynamic.failures.rank_findings import rank_finding
from diagnostics.dynamic.job.rank_ends import RankOutcome
from diagnostics.inspection import checks
from diagnostics.inspection.observations import InspectedModel, InspectionAnswer, ModelObservation, Refused, read_answer
from diagnostics.machine.facts import ChildTimeout, MachineError
from diagnostics.record.record import RunRecord, agent_environment, make_record_folder

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child
    from diagnostics.machine.facts import ChildResult

STEPS_CODE = "A900"
STACKS_BEFORE_DEADLINE = 0.9  # the share of the deadline after which a stuck child writes its stacks
# What is watched is the model as it is written, not what a compiler makes of it.
QUIET = {"PYTHONDONTWRITEBYTECODE": "1", "TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One model: `factory` and `inputs` are `module:name` or `file.py:name`; `inputs` is "" where there are none."""

    name: str
    factory: str
    inputs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionRequest:
    """What is to be inspected: targets, or the models of a job. `folder` takes what the child leaves."""

    targets: tuple[Target, ...] = ()
    job: JobDescription | None = None
    python: str
    folder: Path
    steps: int = 3
    device: str = ""
    deadline_s: float = 120.0
    rerun: str  # the command line that repeats it


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """What was seen of each model, and the verdict on all of them."""

    models: tuple[InspectedModel, ...]
    verdict: Verdict

    @property
    def seen(self) -> tuple[tuple[str, ModelObservation], ...]:
        """Name and observations of each model that was stepped."""
        return tuple((model.name, model.seen) for model in self.models if model.seen is not None)


def inspect(wanted: InspectionRequest, child: Child) -> Inspected:
    """Runs the child and judges what it saw.

    Raises UsageError where a target cannot be built or called as asked, DoctorError where the child cannot be run.
    """
    started = time.monotonic()
    argv, env = _prepared(wanted)
    try:
        result = child.run(argv, deadline_s=wanted.deadline_s, env=env)
        end = _end(wanted, result)
    except ChildTimeout:
        result, end = None, _end(wanted, None)
    except MachineError as error:
        raise DoctorError(f"the model cannot be run: {error}") from error
    answer = _answer(wanted)
    if result is not None and result.returncode == USAGE_EXIT and not answer.models:
        raise _refused(wanted, result)
    stepped = [(model.name if wanted.job is not None else "", model.seen) for model in answer.models if model.seen]
    outcomes = [_with_findings(_ran(wanted, end, answer, time.monotonic() - started), stepped)]
    outcomes += _judged(stepped) if stepped else []
    return Inspected(
        models=answer.models, verdict=Verdict(outcomes=tuple(outcomes), seconds=time.monotonic() - started)
    )


def findings_of(seen: ModelObservation) -> tuple[Finding, ...]:
    """Returns what all inspections say of one model, by code."""
    return tuple(finding for module in discover(checks).values() for finding in module.look(seen))


def usage_error(refused: Refused, *, verbose: bool) -> UsageError:
    """Returns a model's refusal as an error; the traceback of the user's own code on request."""
    shown = [refused.hint, "\n".join(without_own_frames(refused.traceback)) if verbose else ""]
    if refused.traceback and not verbose:
        shown.append("see its traceback: the same command with -v")
    return UsageError(refused.message, hint="\n".join(filter(None, shown)))


def _prepared(wanted: InspectionRequest) -> tuple[list[str], dict[str, str]]:
    """Writes the request; returns the child's command line and variables."""
    make_record_folder(_agents(wanted))
    body: dict[str, Any] = {"result": str(_result(wanted)), "steps": wanted.steps, "device": wanted.device}
    if wanted.job is None:
        body["targets"] = [{"name": one.name, "factory": one.factory, "inputs": one.inputs} for one in wanted.targets]
    else:
        sets = [word for override in wanted.job.overrides for word in ("--set", override)]
        steps = ["--steps", str(wanted.steps)]
        body["adapter"] = {"module": wanted.job.module, "argv": ["inspect", str(wanted.job.config), *steps, *sets]}
    request = wanted.folder / "request.json"
    request.write_text(json.dumps(body), encoding="utf-8")
    tether = [sys.executable, "-I", "-S", str(CHILDREN / "tether.py"), str(os.getpid())]
    own = dict(wanted.job.env) if wanted.job is not None else {}
    agent = agent_environment(
        _agents(wanted),
        deep=True,
        stacks_after_s=wanted.deadline_s * STACKS_BEFORE_DEADLINE,
        pythonpath=own.get("PYTHONPATH"),
    )
    return [*tether, wanted.python, str(CHILDREN / "inspect_model.py"), str(request)], {**own, **QUIET, **agent}


def _agents(wanted: InspectionRequest) -> Path:
    return wanted.folder / "agent"


def _result(wanted: InspectionRequest) -> Path:
    return wanted.folder / "seen.json"


def _end(wanted: InspectionRequest, result: ChildResult | None) -> RankOutcome:
    """How the child ended, with what its agent noted; `result` is None where the deadline came first."""
    record = RunRecord.load(_agents(wanted))
    watched = next((agent for agent in record.agents if agent.parent_pid == os.getpid()), None)
    return RankOutcome(
        rank=0,
        signal=result.signal if result is not None else None,
        returncode=result.returncode if result is not None else None,
        timed_out=result is None,
        ended=result is None,
        seconds=result.seconds if result is not None else wanted.deadline_s,
        stderr=result.stderr if result is not None else "",
        agent=watched,
        fault=record.fault_of(watched) if watched is not None else None,
    )


def _answer(wanted: InspectionRequest) -> InspectionAnswer:
    answer = read_json(_result(wanted))
    if answer is None:
        return InspectionAnswer(torch="", models=())
    try:
        return read_answer(answer)
    except ValueError as error:
        raise DoctorError(
            f"the child's answer cannot be read: {error}", hint=f"run it again: {wanted.rerun}"
        ) from error


def _refused(wanted: InspectionRequest, result: ChildResult) -> UsageError:
    if wanted.job is None:
        return UsageError(sentence_of(result.stderr) or "the inspection refuses these arguments")
    if "invalid choice: 'inspect'" in result.stderr:
        return UsageError(
            f"the trainer of {wanted.job.config} ({wanted.job.module}) hands over no model to inspect",
            hint="name a factory: ups-doctor inspect module:factory --inputs module:make_batch",
        )
    sentence, hint = refusal(result.stderr)
    return UsageError(sentence, hint=hint)


def _ran(wanted: InspectionRequest, end: RankOutcome, answer: InspectionAnswer, seconds: float) -> Outcome:
    """Returns the outcome of the steps themselves: undecided where the child did not come to its end."""
    whole = wanted.job is not None or len(answer.models) == len(wanted.targets)
    if not end.failed and whole and answer.models:
        return Outcome(
            code=STEPS_CODE,
            name="model-steps",
            stage="inspect",
            status=Status.DONE,
            title="forward and backward come to their end",
            seconds=seconds,
            measured={"torch": answer.torch},
        )
    told = rank_finding(STEPS_CODE, [end], rerun=wanted.rerun)
    evidence = [f"{one.source}: {one.observed}" for one in told.evidence]
    return Outcome(
        code=STEPS_CODE,
        name="model-steps",
        stage="inspect",
        status=Status.TIMED_OUT if end.timed_out else Status.CRASHED,
        title="the child that ran the model",
        reason=told.title.removeprefix("rank 0 "),
        detail="\n".join(evidence),
        seconds=seconds,
    )


def _with_findings(outcome: Outcome, stepped: Sequence[tuple[str, ModelObservation]]) -> Outcome:
    module = discover(checks)[STEPS_CODE]
    findings = tuple(_named(finding, name) for name, seen in stepped for finding in module.look(seen))
    return replace(outcome, findings=findings) if outcome.status is Status.DONE else outcome


def _judged(stepped: Sequence[tuple[str, ModelObservation]]) -> Iterator[Outcome]:
    for code, module in discover(checks).items():
        if code == STEPS_CODE:
            continue
        began = time.monotonic()
        findings = tuple(_named(finding, name) for name, seen in stepped for finding in module.look(seen))
        yield Outcome(
            code=code,
            name=module.NAME,
            stage="inspect",
            status=Status.DONE,
            title=f"{module.NAME.replace('-', ' ')}: none",
            seconds=time.monotonic() - began,
            findings=findings,
        )


def _named(finding: Finding, model: str) -> Finding:
    """Returns the finding with the model it is about, where a job has several."""
    if not model:
        return finding
    return replace(finding, title=f"{model}: {finding.title}", where=f"{model}: {finding.where}")
