"""The job's cache folders hold device tags, cut-off files or unsafe pickles.

What it does: scans every cache folder of the configuration as `ups-doctor scan-cache` does: the device
tags are read out of the files without loading or unpickling them. A folder that is not there yet has
nothing to scan, and the probe says so.

Why it matters: a cache that was written from CUDA tensors ends loader workers without a word on a
machine without that GPU; one that was cut off by a full disk fails in the middle of an epoch.

Bad:

    torch.save(latent, "cache/sample_00017.pt")         # latent lives on cuda:0

Good:

    torch.save(latent.cpu(), "cache/sample_00017.pt")

Fix: `ups-doctor fix-cache FOLDER` rewrites the tags in place, without a GPU and without loading a tensor, and
moves files that no loader can use to a quarantine folder. Made again are only those.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import last_lines
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P601"
NAME = "cache-scan"
STAGE = Stage.DATA
REQUIRES: tuple[str, ...] = ()
# In a child of its own: what lies in a cache folder was written by others, and may be slow or many.
SCAN = "from diagnostics.cli import main; main()"


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the findings of the scan; skipped for a job without a cache."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    if not config.job.cache_dirs:
        raise Skip("this configuration uses no cache")
    present = [folder for folder in config.job.cache_dirs if folder.is_dir()]
    absent = [folder for folder in config.job.cache_dirs if folder not in present]
    if not present:
        return ProbeResult(
            title=f"no cache yet at {', '.join(map(str, absent))}: nothing to scan", measured={"files": 0}
        )
    return _scan(machine, config, present)


def _scan(machine: Machine, config: PreflightConfig, folders: list[Path]) -> ProbeResult:
    arguments = ["scan-cache", "--json", "--limit", "0", *map(str, folders)]
    child = machine.child.run([sys.executable, "-c", SCAN, *arguments], deadline_s=config.thresholds.data_deadline_s)
    command = f"ups-doctor scan-cache {shlex.join(map(str, folders))}"
    try:
        answer = json.loads(child.stdout)
    except ValueError:
        return ProbeResult(title="", findings=(_no_answer(child.returncode, child.stderr, folders, command),))
    title = f"{answer['recognised']} cache files of {answer['bytes']:,} bytes clean in {', '.join(map(str, folders))}"
    return ProbeResult(
        title=title if answer["recognised"] else f"no cache file yet in {', '.join(map(str, folders))}",
        findings=tuple(_finding(found, command) for found in answer["findings"]),
        measured={"files": answer["recognised"], "bytes": answer["bytes"], "bad_files": answer["bad"]},
    )


def _finding(found: dict[str, Any], command: str) -> Finding:
    fix = found["fix"] or {"text": "", "commands": []}
    return Finding(
        code=CODE,
        name=found["name"],
        severity=Severity[found["severity"].upper()],
        title=f"{found['title']} ({found['code']})",
        where=found["where"],
        evidence=tuple(Evidence(**item) for item in found["evidence"]),
        fix=Fix(text=fix["text"], commands=(*fix["commands"], command)),
    )


def _no_answer(returncode: int, stderr: str, folders: list[Path], command: str) -> Finding:
    return Finding(
        code=CODE,
        name="cache-unreadable",
        severity=Severity.ERROR,
        title=f"the cache could not be scanned: the scan ended with {returncode}",
        where=str(folders[0]),
        evidence=(
            Evidence(source=command, observed=last_lines(stderr) or "no output", expected="exit code 0, 1 or 2"),
        ),
    )
