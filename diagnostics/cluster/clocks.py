"""How far the clocks of hosts are apart, by collectives that all finished: these end at nearly one time. Pure."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence

from diagnostics.cluster.host_report import HostReport

_DID = re.compile(r"^did (\w+ #\d+)$")
_MEETING = "process group made"  # all ranks leave it together, more or less: one that is slow may come seconds later
_APART_S = 5.0


def began_s(report: HostReport) -> float:
    """Returns when the job began by the host's own clock."""
    return report.job_began_s if report.job_began_s is not None else report.started_s


def offsets_s(reports: Sequence[HostReport]) -> dict[str, float]:
    """Returns by path how far each host's clock is ahead of the first one's; 0 where they shared nothing."""
    done = {report.path: _done(report) for report in reports}
    if not reports:
        return {}
    base = max(reports, key=lambda one: len(done[one.path]))
    found = {}
    for report in reports:
        shared = sorted(done[report.path].keys() & done[base.path].keys())[:-1]  # the last one may have failed
        gaps = [done[report.path][name] - done[base.path][name] for name in shared]
        found[report.path] = statistics.median(gaps) if gaps else _by_meeting(report, base)
    return found


def _by_meeting(report: HostReport, base: HostReport) -> float:
    """Returns how far ahead a clock is by when both hosts had met; DDP's collectives leave no other common moment."""
    met, base_met = _met(report), _met(base)
    gap = met - base_met if met is not None and base_met is not None else 0.0
    return gap if abs(gap) > _APART_S else 0.0


def _met(report: HostReport) -> float | None:
    """Returns when a host's first rank had met the others for the first time."""
    for entry in _timeline(report):
        at = entry.get("at_s")
        if str(entry.get("what", "")).startswith(_MEETING) and isinstance(at, (int, float)):
            return began_s(report) + at
    return None


def _done(report: HostReport) -> Mapping[str, float]:
    """Returns when each collective was first finished on a host."""
    found: dict[str, float] = {}
    for entry in _timeline(report):
        match = _DID.match(str(entry.get("what", "")))
        at = entry.get("at_s")
        if match and isinstance(at, (int, float)):
            found.setdefault(match[1], began_s(report) + at)
    return found


def ended_s(report: HostReport, ranks: Sequence[int]) -> float | None:
    """Returns when the first of these ranks failed, by the host's own clock."""
    for entry in _timeline(report):
        at, what = entry.get("at_s"), str(entry.get("what", ""))
        if entry.get("rank") in ranks and isinstance(at, (int, float)) and what.startswith(("died", "raised", "ended")):
            return began_s(report) + at
    return None


def _timeline(report: HostReport) -> list[Mapping[str, object]]:
    found = (report.report or {}).get("timeline")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
