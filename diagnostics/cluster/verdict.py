"""What is said of a run over several hosts. Plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.cluster.host_report import HostReport
from diagnostics.core.findings import Confidence

HEALTHY = ("ok", "slow")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOfHost:
    """One row of the page: a rank by its true host and number."""

    rank: int
    host: str
    role: str  # culprit | victim | ""
    ended: str
    last_collective: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterVerdict:
    """What became of a run over several hosts."""

    outcome: str  # "crash", "hang", ... of the failure; "no-report"; "link"; "unknown"; "ok"
    words: str
    host: str = ""
    failure_class: str = ""
    culprit_ranks: tuple[int, ...] = ()
    location: str = ""
    fix: str = ""
    confidence: Confidence = Confidence.CONFIRMED
    run_id: str = ""
    hosts: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()  # hosts that came and left no report
    missing_ranks: tuple[int, ...] = ()
    world_size: int | None = None
    ranks: tuple[RankOfHost, ...] = ()
    notes: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()  # where each host's own page is


def names_of_hosts(found: Sequence[HostReport]) -> str:
    """Returns the hosts' names, the first ones of many."""
    names = list(dict.fromkeys(one.host for one in found))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more hosts" if len(names) > 8 else "")
