"""The job trains slower than it did the last time all was well.

What it does: compares the dry run's samples per second with those of the last dry run of the very same CONFIG, ranks
and backend that passed on this machine. The first run has nothing to compare with and only writes its number down.

Why it matters: a machine that got slower (another job on its cores, a hot GPU, a network disk) still trains,
at several times the price.

Example: `310 samples/s, the last good run had 1240`.

Fix: look at what else runs (`top`, `nvidia-smi`), and at the data-wait share beside it.
"""

from __future__ import annotations

import hashlib
import json

from diagnostics.adapter.answers import read_answer, read_json
from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.wording import number
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P802"
NAME = "throughput"
STAGE = Stage.DRY_RUN
REQUIRES = ("P801",)


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the throughput; a warning where it fell by more than the threshold's ratio."""
    path = read_answer(config.record_dir, "dry-run")
    speed = number(read_json(path) or {}, "samples_per_s")
    if not speed:
        raise Skip("the dry run measured no throughput")
    what = _identity(config.job) if config.job else None
    last = config.last_good.get(CODE, {})
    before = number(last, "samples_per_s") if what and last.get("job") == what else None  # another job is no measure
    title = f"{speed:.0f} samples/s" + (f", the last good run had {before:.0f}" if before else "")
    limit = config.thresholds.slower_than_last_good
    findings = (_slower(title, speed, before, limit),) if before and before > limit * speed else ()
    return ProbeResult(title=title, findings=findings, measured={"samples_per_s": speed, "job": what})


def _identity(job: JobDescription) -> str | None:
    """Returns a digest of what two comparable jobs share: place and bytes of CONFIG, overrides; None without CONFIG."""
    try:
        content = job.config.read_bytes()
    except OSError:
        return None
    asked = json.dumps([job.module, str(job.config), *job.overrides])
    return hashlib.sha256(asked.encode() + content).hexdigest()


def _slower(title: str, speed: float, before: float, limit: float) -> Finding:
    return Finding(
        code=CODE,
        name="slower-than-before",
        severity=Severity.WARNING,
        title=title,
        where="the dry run",
        evidence=(
            Evidence(
                source="samples_per_s in answer-dry-run.json of this report",
                observed=f"{speed:.0f} samples/s, {before / speed:.1f} times slower than the last good run",
                expected=f"at most {limit:g} times slower than {before:.0f}",
            ),
        ),
        fix=Fix(text="look at what else runs on this machine", commands=("top", "nvidia-smi")),
        confidence=Confidence.LIKELY,
    )
