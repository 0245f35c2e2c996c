"""A few real steps of the real configuration do not come to a good end.

What it does: asks the trainer to train for a few steps through its own launcher, into a temporary output
folder that is removed afterwards. The other probes of this stage judge what it measured.

Why it matters: this is the whole chain at once: data, model, collectives, optimizer, checkpoint. What breaks
here would have broken after the machine was rented and the queue waited for.

Example: `the dry run ended with exit code 1: step 2: loss is nan on rank 1`.

Fix: read the last lines; they are the trainer's own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diagnostics.adapter.answers import USAGE_EXIT, adapter_argv, read_answer, read_json, refusal
from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import last_lines, number, sentence_of
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildResult
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P801"
NAME = "dry-run"
STAGE = Stage.DRY_RUN
REQUIRES = ("P602", "P701")
STEPS = 6  # the first is slow everywhere; five more give a median


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns throughput and steps, or a finding with the trainer's last lines and its exit code."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    result = read_answer(config.record_dir, "dry-run")
    options = ["--result", str(result), "--steps", str(STEPS), *_wishes(config, config.job)]
    argv = adapter_argv(config.python, config.job, "dry-run", *options)
    child = machine.child.run(argv, deadline_s=config.thresholds.dry_run_deadline_s, env=dict(config.job.env))
    answer = read_json(result)
    if child.returncode != 0 or answer is None:
        return ProbeResult(title="", findings=(_failed(child, argv, config.job.config, answered=answer is not None),))
    steps, speed = number(answer, "steps") or 0.0, number(answer, "samples_per_s") or 0.0
    ranks = int(number(answer, "world_size") or config.nproc)
    findings = () if steps >= 1 else (_no_steps(argv, config.job.config),)
    measured = {name: value for name in answer if (value := number(answer, name)) is not None}
    return ProbeResult(
        title=f"{steps:.0f} steps on {ranks} ranks, {speed:.0f} samples/s",
        findings=findings,
        measured={**measured, "seconds": child.seconds},
    )


def _wishes(config: PreflightConfig, job: JobDescription) -> list[str]:
    """Returns the options for what the user asked of preflight and the job's CONFIG does not say."""
    nproc = ["--nproc", str(config.nproc)] if config.nproc != job.nproc else []
    return nproc + (["--backend", config.backend] if config.backend != job.backend else [])


def _failed(child: ChildResult, argv: Sequence[str], where: Path, *, answered: bool) -> Finding:
    how = f"was ended by signal {child.signal}" if child.signal else f"ended with exit code {child.returncode}"
    if child.returncode == 0 and not answered:
        how = "ended with exit code 0, but left no result"
    said = sentence_of(child.stderr) or sentence_of(child.stdout) or "it said nothing"
    refused = child.returncode == USAGE_EXIT
    return Finding(
        code=CODE,
        name="config-refused" if refused else "dry-run-failed",
        severity=Severity.ERROR,
        title=refusal(child.stderr)[0] if refused else f"the dry run {how}: {said}",
        where=str(where),
        evidence=(
            Evidence(
                source=" ".join(argv),
                observed=f"{how}\n{last_lines(child.stderr or child.stdout)}",
                expected="exit code 0 and a result",
            ),
        ),
        fix=Fix(text="run it again by hand for all of its output", commands=(" ".join(argv),)),
    )


def _no_steps(argv: Sequence[str], where: Path) -> Finding:
    return Finding(
        code=CODE,
        name="zero-progress",
        severity=Severity.ERROR,
        title="the dry run ended well and took no step",
        where=str(where),
        evidence=(Evidence(source=" ".join(argv), observed="steps: 0", expected=f"steps: {STEPS}"),),
        fix=Fix(text="look for an empty training split, or a loader that yields nothing"),
    )
