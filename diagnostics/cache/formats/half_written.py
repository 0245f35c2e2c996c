"""A temporary file that a writer left behind.

What it does: tells files of a cache format, or cut-off beginnings of one, under a name that says they are not
finished: `.tmp`, `.temp`, `.part`, `.partial`, `.building`, `.incomplete`, or a `~` at the end.

Why it matters: a writer gives a file its name when it is whole, so nobody reads these by accident. But they are
the trace of a job that was killed while it wrote, they take space, and a loader that takes every file of a
folder reads them too. It is a warning: while a writer runs, such files are what they should be.

Bad:

    paths = sorted(os.listdir("cache"))               # sample_00017.pt.tmp is among them

Good:

    paths = sorted(glob.glob("cache/*.pt"))

Fix: see that no writer is running (`fuser -v FILE`), then remove them and build what is missing.
"""

from __future__ import annotations

import re
from dataclasses import replace

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.core.findings import Severity

CODE = "C122"
NAME = "half-written"
MEANINGS = {"half-written": "are temporary files that a writer left behind"}
REMEDIES = {"half-written": "see that no writer is running, then remove them and build what is missing"}

_TEMPORARY = re.compile(r"[.](?:tmp|temp|part|partial|building|incomplete)(?![a-z0-9])|~$", re.IGNORECASE)


def finished_name(name: str) -> str:
    """Returns the name a temporary file will have once it is whole; empty where the name is no temporary one."""
    match = _TEMPORARY.search(name)
    return name[: match.start()].lstrip(".") if match else ""


def half_written(scan: FileScan) -> FileScan:
    """Returns the scan of a temporary file: one warning in place of what it holds."""
    observed = "; ".join(problem.observed for problem in scan.problems) or "a whole file"
    problem = Problem(
        name="half-written",
        observed=f"a temporary file: {observed}",
        expected="renamed or removed by its writer",
        severity=Severity.WARNING,
    )
    return replace(scan, code=CODE, devices={}, dtypes={}, facts=(), problems=(problem,))
