"""The verdict about the records of all hosts as one job, with hosts in it: whose ranks, whose addresses. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.cluster.host_report import HostReport
from diagnostics.cluster.verdict import HEALTHY, ClusterVerdict, RankOfHost, names_of_hosts
from diagnostics.core.findings import Confidence
from diagnostics.record.torch_messages import is_lost_peer

UNSAID = ("unknown", "none", "")
# Classes that say that ranks did not do the same: where their sources are not the same, that is why.
UNLIKE = ("collective-missing", "collective-mismatch", "p2p-deadlock", "parameter-mismatch", "rank-divergence")
NETWORK = "network-lost"


def of_joined(
    report: Mapping[str, Any], told: Sequence[HostReport], base: Mapping[str, Any], *, well: bool
) -> ClusterVerdict | None:
    """Returns the verdict, None where the report knows no cause. `well`: no host found a failure of its own."""
    outcome, failure_class = str(report.get("outcome", "")), str(report.get("failure_class") or "")
    cause = str(report.get("root_cause", ""))
    if outcome in (*HEALTHY, "unknown") or failure_class in UNSAID or is_lost_peer(cause):
        return None
    given = report.get("confidence")
    confidence = Confidence(given) if given in set(Confidence) else Confidence.POSSIBLE
    if well and confidence is Confidence.POSSIBLE:
        return None
    culprits = tuple(rank for rank in report.get("culprit_ranks") or () if isinstance(rank, int))
    location, fix = str(report.get("location") or ""), str(report.get("fix") or "")
    odd, why, mend = _other_code(told, failure_class)
    if odd:
        culprits = tuple(sorted(rank for one in odd for rank in one.ranks))
        cause, fix, confidence = f"{why}: {cause}", mend, Confidence.LIKELY
    here = [one for one in told if {*culprits} & {*one.ranks}]
    rest = [one for one in told if one not in here and _suffered(one)]
    on = f"On {here[0].host}: " if len({one.host for one in here}) == 1 else ""
    where = "" if on or not here else f" ({_by_host(here, culprits)})"
    lost = f"; {names_of_hosts(rest)} only lost the connection to it, or waited for it" if on and rest else ""
    return ClusterVerdict(
        outcome="link" if failure_class == NETWORK and not on else outcome,
        failure_class=failure_class,
        words=f"{on}{_with_names(cause, base['addresses'])}{where}{lost}",
        host=here[0].host if on else "",
        culprit_ranks=culprits,
        location=location,
        fix=fix,
        confidence=confidence,
        **{**base["common"], "ranks": _rows(base["common"]["ranks"], report, culprits)},
    )


def _other_code(told: Sequence[HostReport], failure_class: str) -> tuple[list[HostReport], str, str]:
    """Returns the hosts that are alone with their text of a file, where ranks did not do the same; why, and the fix."""
    if failure_class not in UNLIKE:
        return [], "", ""
    for path in sorted({path for one in told for path in one.sources}):
        having = [one for one in told if path in one.sources]
        texts = [one.sources[path] for one in having]
        usual = max(set(texts), key=texts.count)
        odd = [one for one in having if one.sources[path] != usual]
        if odd and 2 * len(odd) < len(having):
            fix = f"bring {path} of {names_of_hosts(odd)} to the state of the other hosts"
            return odd, f"{path} is another one than on the other hosts", fix
    return [], "", ""


def _suffered(one: HostReport) -> bool:
    return str((one.report or {}).get("outcome")) not in HEALTHY


def _by_host(here: Sequence[HostReport], culprits: Sequence[int]) -> str:
    shown = [f"rank {rank} on {one.host}" for one in here for rank in one.ranks if rank in culprits]
    return ", ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")


def _with_names(words: str, hosts: Mapping[str, str]) -> str:
    """Returns a sentence in which addresses have their hosts' names with them."""
    return re.sub(
        r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])",
        lambda found: f"{hosts[found[0]]} ({found[0]})" if found[0] in hosts else found[0],
        words,
    )


def _rows(rows: Sequence[RankOfHost], report: Mapping[str, Any], culprits: Sequence[int]) -> tuple[RankOfHost, ...]:
    """Returns the rows of all ranks as the verdict over all of them sees these."""
    seen = {row["rank"]: row for row in report.get("ranks") or () if isinstance(row, dict) and "rank" in row}
    return tuple(
        RankOfHost(
            rank=row.rank,
            host=row.host,
            role="culprit" if row.rank in culprits else "victim" if seen.get(row.rank, {}).get("role") else row.role
            if row.role != "culprit" else "",
            ended=row.ended,
            last_collective=str(seen.get(row.rank, {}).get("last_collective") or row.last_collective),
        )
        for row in rows
    )  # fmt: skip
