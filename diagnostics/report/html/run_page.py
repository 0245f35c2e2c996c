"""The page of a watched job: what report.json holds as prose, and its lanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostics.core.job_trace import JobTrace
from diagnostics.report.html.document import MOST_BYTES, data_block, render
from diagnostics.report.html.lanes_picture import HEIGHT, MOST_MARKS, picture_of
from diagnostics.report.html.stack_tree import rank_set, tree_of

FULL = {"ranks": 200, "findings": 40, "evidence": 20, "timeline": 300, "stacks": 60, "standing": 80, "gaps": 60}
SURENESS = {
    "confirmed": "confirmed: measured or proven, see the proof",
    "likely": "likely: a guess that the evidence supports, not proven",
    "possible": "possible: a guess, one of several",
}


def run_page(report: Mapping[str, Any], headline: str, trace: JobTrace | None) -> str:
    """Returns the page; `report` is report.json, secrets hidden. Of a large one as much as a page may have."""
    share = 1.0
    while True:
        page = _page(report, headline, trace, share)
        if len(page.encode()) < MOST_BYTES or share < 0.01:
            return page
        share /= 2


def _page(report: Mapping[str, Any], headline: str, trace: JobTrace | None, share: float) -> str:
    most = {name: max(1, int(share * count)) for name, count in FULL.items()}
    drawn = picture_of(trace, int(share * MOST_MARKS)) if trace is not None and trace.lanes else None
    rank_order = {"culprit": 0, "victim": 1}
    rows = sorted(report["ranks"], key=lambda row: (rank_order.get(row["role"], 2), row["rank"]))[: most["ranks"]]
    return render(
        "run.html.j2",
        title=f"ups-doctor: {headline}",
        headline=headline,
        report=report,
        most=most,
        rows=sorted(rows, key=lambda row: row["rank"]) if len(rows) == len(report["ranks"]) else rows,
        sure=SURENESS.get(report["confidence"], report["confidence"]),
        drawn=drawn,
        lane_height=HEIGHT,
        stacks=tree_of(report["stacks"][: most["stacks"]]),
        captured=sorted({group["captured"] for group in report["stacks"]}),
        gaps=_gaps(report)[: most["gaps"]],
        rank_set=rank_set,
        marks=data_block({"marks": drawn.marks, "stacks": drawn.stacks, "until": drawn.until_s}) if drawn else None,
    )


def _gaps(report: Mapping[str, Any]) -> list[str]:
    """Returns what was not captured; equal gaps of several ranks share one line."""
    found: dict[str, list[int]] = {}
    for rank, coverage in report["coverage"].items():
        for gap in coverage["missing"]:
            found.setdefault(gap, []).append(int(rank) if rank.isdigit() else -1)
    return [*(f"rank {rank_set(ranks)}: {gap}" for gap, ranks in found.items()), *report["not_captured"]]
