"""Which of several reports are of one run, and which of an earlier one. Pure.

A rank is there once in a run. Where two reports have the same one, the run was started again: on the same host, or on
another after the first had ended. Ranks that were on two hosts at one time were two jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from diagnostics.cluster.host_report import HostReport
from diagnostics.core.wording import shown_ranks


@dataclass(frozen=True, slots=True)
class Incarnations:
    """The reports of the newest run by host; what was left out of it, and why, in words."""

    newest: tuple[HostReport, ...]
    notes: tuple[str, ...]


def incarnations(found: Sequence[HostReport]) -> Incarnations:
    """Returns the newest run among these reports; a report that lies in two places counts once."""
    found = _each_once(found)
    newest_id = max(found, key=lambda one: (bool(one.run_id), one.started_s)).run_id
    others = sorted({one.run_id for one in found} - {newest_id, ""})
    notes = [f"earlier runs in this folder are not told: {', '.join(others)}"] if others else []
    kept: list[HostReport] = []
    with_rank: dict[int, HostReport] = {}
    two_jobs: list[str] = []
    of_it = [one for one in found if one.run_id in (newest_id, "")]  # a report that was never shared has no id
    for one in sorted(of_it, key=lambda each: -each.started_s):
        ranks = one.ranks
        same = [rank for rank in ranks if rank in with_rank]
        newer = with_rank[same[0]] if same else next((other for other in kept if other.host == one.host), None)
        if newer is not None and _is_replaced(one, newer, by_rank=bool(same) or not ranks):
            notes.append(_told(one))
            continue
        if same and newer is not None:
            two_jobs = [_two_jobs(same, one.host, newer.host)]
        kept.append(one)
        with_rank.update((rank, one) for rank in ranks if rank not in with_rank)
    return Incarnations(tuple(sorted(kept, key=lambda each: (each.host, each.path))), (*notes, *two_jobs))


def _each_once(found: Sequence[HostReport]) -> list[HostReport]:
    """Returns each doctor's report once: the folder on its host and the copy in the shared one are the same."""
    shared = {(one.host, one.pid, one.started_s): one for one in found if one.run_id}
    copied = {(one.host, one.job_began_s) for one in shared.values()}
    own = {(one.host, one.job_began_s or one.path): one for one in found if not one.run_id}
    return [*shared.values(), *(one for name, one in own.items() if name not in copied)]


def _is_replaced(one: HostReport, newer: HostReport, *, by_rank: bool) -> bool:
    if one.host == newer.host:
        return by_rank
    return by_rank and one.job_ended_s is not None and one.job_ended_s <= newer.started_s


def _told(one: HostReport) -> str:
    root = "no report" if one.report is None else one.report.get("root_cause") or one.report.get("outcome")
    if one.run_id:
        return f"an earlier incarnation on {one.host} (pid {one.pid}): {root}"
    when = f"{datetime.fromtimestamp(one.started_s, UTC):%Y-%m-%d %H:%M:%S} UTC, " if one.started_s else ""
    return f"an earlier run on {one.host} ({when}{one.path}): {root}"


def _two_jobs(ranks: Sequence[int], host: str, other: str) -> str:
    return (
        f"{shown_ranks(ranks)} ran on {host} and on {other} at one time: these were jobs of their own, not one "
        "(was each launcher told of the other hosts: --nnodes, --node-rank, --rdzv-endpoint?)"
    )
