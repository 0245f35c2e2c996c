"""What did not run to its end, and why: none of it counts as a pass."""

from __future__ import annotations

from diagnostics.core.findings import Outcome, Status
from diagnostics.core.markdown import block, inline
from diagnostics.report.check_report import CheckReport

ORDER = 30
TITLE = "Not decided"

WORDS = {Status.SKIPPED: "skipped", Status.TIMED_OUT: "no answer in time", Status.CRASHED: "crashed"}


def render(report: CheckReport) -> list[str]:
    """Returns one item for each check that is not done, crashes and deadlines first."""
    missing = [outcome for outcome in report.verdict.outcomes if outcome.status is not Status.DONE]
    ordered = sorted(missing, key=lambda outcome: outcome.status is Status.SKIPPED)
    return [line for outcome in ordered for line in _item(outcome)]


def _item(outcome: Outcome) -> list[str]:
    first = f"- {outcome.code} {inline(outcome.name)}: {WORDS[outcome.status]}: {inline(outcome.reason)}"
    return [first, "", *block(outcome.detail.splitlines()), ""] if outcome.detail else [first]
