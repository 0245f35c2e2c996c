"""The ranks built different parameters.

What it does: compares what every rank reported after building the job's modules: number of parameters, and
class, bytes and shapes of each module.

Why it matters: DistributedDataParallel adds gradients by position. Different parameters end in an error in the
wrap at best, else in a hang or in garbage that trains.

Bad:

    hidden = 64 if rank == 0 else 32
    model = Net(hidden)

Good:

    model = Net(config.hidden)      # nothing of the model depends on the rank
"""

from __future__ import annotations

from diagnostics.adapter.answers import model_answers
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.preflight.parameter_counts import ParameterMismatch, disagreeing
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P702"
NAME = "parameters-agree"
STAGE = Stage.MODEL
REQUIRES = ()  # not model-step: it fails where the parameters differ


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding that names two ranks and the module in which they differ."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    answers = [answer for answer in model_answers(config.record_dir, config.nproc) if answer and answer.parameters]
    if len(answers) < 2:
        raise Skip(f"needs the modules of two ranks, {len(answers)} reported theirs")
    difference = disagreeing(answers)
    return ProbeResult(
        title=f"{len(answers)} ranks built the same {answers[0].parameters:,} parameters",
        findings=(_finding(difference),) if difference is not None else (),
    )


def _finding(difference: ParameterMismatch) -> Finding:
    (one, two), (a, b) = difference.ranks, difference.values
    place = f" in {difference.module}" if difference.module else ""
    return Finding(
        code=CODE,
        name="parameter-mismatch",
        severity=Severity.ERROR,
        title=f"ranks {one} and {two} built different parameters{place}: {a} against {b}",
        where=", ".join(filter(None, (f"ranks {one} and {two}", difference.module))),
        evidence=(
            Evidence(
                source=f"answer-model-{one}.json and answer-model-{two}.json of this report",
                observed=f"rank {one}: {a}; rank {two}: {b}",
                expected="the same on every rank",
            ),
        ),
        fix=Fix(text="let nothing in the model's construction depend on the rank, its data or its device"),
    )
