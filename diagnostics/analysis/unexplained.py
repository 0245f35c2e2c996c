"""What was seen of a failure that no signature knows. Pure."""

from __future__ import annotations

from diagnostics.analysis.case import Case


def unexplained(case: Case) -> str:
    """Returns what was seen, in one sentence; "" where nothing failed."""
    return "the job failed" if case.failed else ""
