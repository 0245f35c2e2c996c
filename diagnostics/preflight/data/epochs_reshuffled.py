"""Every epoch reads the samples in the same order.

What it does: compares the order of the sample indices that each rank reported for two epochs.

Why it matters: `DistributedSampler` shuffles by seed and epoch. Without `set_epoch` the epoch stays 0: each
rank sees the same samples, in the same batches, in every epoch, and never those of the other ranks.
Nothing fails; the model is worse.

Bad:

    for epoch in range(epochs):
        for batch in loader: ...

Good:

    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader: ...
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.adapter.answers import DataAnswer, data_answers
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import shown_ranks
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P604"
NAME = "epochs-reshuffled"
STAGE = Stage.DATA
REQUIRES = ("P602",)
FEW_SAMPLES = 4  # of one rank: by chance the same order twice once in 24 times
SHOWN = 6


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding that names the ranks whose order repeats; skipped for too few samples to tell."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    answers = [answer for answer in data_answers(config.record_dir, config.nproc) if answer and len(answer.epochs) > 1]
    telling = [answer for answer in answers if len(answer.epochs[0]) > FEW_SAMPLES]
    if not telling:
        raise Skip(f"no rank reported two epochs of more than {FEW_SAMPLES} samples")
    same = [answer for answer in telling if answer.epochs[0] == answer.epochs[1]]
    title = f"{len(telling)} ranks read the samples in another order each epoch"
    return ProbeResult(title=title, findings=(_finding(same),) if same else ())


def _finding(same: Sequence[DataAnswer]) -> Finding:
    ranks = shown_ranks([answer.rank for answer in same])
    order = same[0].epochs[0]
    in_sequence = all(list(answer.epochs[0]) == sorted(answer.epochs[0]) for answer in same)
    what = "in the order of the file, unshuffled, every epoch" if in_sequence else "in the same order every epoch"
    return Finding(
        code=CODE,
        name="missing-set-epoch",
        severity=Severity.WARNING if in_sequence else Severity.ERROR,
        title=f"{ranks} read{'s' * (len(same) == 1)} the samples {what}",
        where=ranks,
        evidence=(
            Evidence(
                source=f"answer-data-{same[0].rank}.json of this report, epochs 0 and 1",
                observed=f"both begin {', '.join(map(str, order[:SHOWN]))} and agree in all {len(order)} samples",
                expected="another order in each epoch",
            ),
        ),
        fix=Fix(text="call sampler.set_epoch(epoch) at the start of every epoch, and let the sampler shuffle"),
    )
