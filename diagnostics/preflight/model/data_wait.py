"""The ranks wait for their data.

What it does: reads from the dry run which share of a step passed before the batch was there.

Why it matters: a GPU that waits for the loader costs as much as one that computes.

Example: `62 % of each step is spent waiting for data (0 workers)`.

Fix: more loader workers, a cache of what is computed anew in every epoch, or a RAM disk for it.
"""

from __future__ import annotations

from diagnostics.adapter.answers import read_answer, read_json
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import number
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P803"
NAME = "data-wait"
STAGE = Stage.DRY_RUN
REQUIRES = ("P801",)


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the share; a warning above the threshold."""
    share = number(read_json(read_answer(config.record_dir, "dry-run")) or {}, "data_wait_share")
    if share is None:
        raise Skip("the dry run measured no data wait")
    workers = config.job.workers if config.job else 0
    title = f"{share:.0%} of each step is spent waiting for data ({workers} workers a rank)"
    limit = config.thresholds.max_data_wait_share
    findings = (_starved(title, share, limit),) if share > limit else ()
    return ProbeResult(title=title, findings=findings, measured={"data_wait_share": share})


def _starved(title: str, share: float, limit: float) -> Finding:
    return Finding(
        code=CODE,
        name="data-starved",
        severity=Severity.WARNING,
        title=title,
        where="the dry run",
        evidence=(
            Evidence(
                source="data_wait_share in answer-dry-run.json of this report",
                observed=f"{share:.0%}",
                expected=f"at most {limit:.0%}",
            ),
        ),
        fix=Fix(text="use more loader workers, or cache what every epoch computes anew"),
    )
