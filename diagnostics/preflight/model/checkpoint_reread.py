"""The checkpoint that the dry run wrote cannot be read back.

What it does: the trainer writes a checkpoint after its few steps, as it does in a real run, reads it back and
compares; this probe judges the outcome and the size.

Why it matters: a checkpoint that cannot be read is noticed when it is needed: after the crash.

Example: `the checkpoint of 1.2 MB could not be read back: it differs in optimizer.state`.

Fix: check the free space of the output folder, and how checkpoints are written (under a temporary name, then
renamed).
"""

from __future__ import annotations

from diagnostics.adapter.answers import read_answer, read_json
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import number
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P805"
NAME = "checkpoint-reread"
STAGE = Stage.DRY_RUN
REQUIRES = ("P801",)


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the checkpoint's size; an error where it was not written or not read back."""
    answer = read_json(read_answer(config.record_dir, "dry-run")) or {}
    if "checkpoint_reread" not in answer:
        raise Skip("the dry run said nothing of a checkpoint")
    size, reread = number(answer, "checkpoint_bytes") or 0.0, answer["checkpoint_reread"]
    good = reread is True and size > 0
    title = f"the checkpoint of {size:,.0f} bytes was written and read back"
    return ProbeResult(
        title=title, findings=() if good else (_lost(size, reread),), measured={"checkpoint_bytes": size}
    )


def _lost(size: float, reread: object) -> Finding:
    why = f": {reread}" if isinstance(reread, str) else ""
    return Finding(
        code=CODE,
        name="corrupt-checkpoint",
        severity=Severity.ERROR,
        title=f"the checkpoint of {size:,.0f} bytes could not be read back{why}"
        if size
        else "no checkpoint was written",
        where="the dry run's output folder",
        evidence=(
            Evidence(
                source="checkpoint_bytes and checkpoint_reread in answer-dry-run.json of this report",
                observed=f"{size:.0f} bytes, checkpoint_reread {reread}",
                expected="more than 0 bytes, checkpoint_reread True",
            ),
        ),
        fix=Fix(text="check the free space of the output folder", commands=("df -h",)),
    )
