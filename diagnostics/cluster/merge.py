"""Which host and rank failed first, which only lost a peer, and which is silent. Pure.

A host's own doctor sees its ranks alone. Where these end because a connection was lost, its verdict is about a victim,
however sure it is of it: the failure is the one that no other explains, on whichever host it stands.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from diagnostics.cluster.clocks import ended_s, offsets_s
from diagnostics.cluster.host_report import HostReport, rows
from diagnostics.cluster.incarnations import incarnations
from diagnostics.cluster.joined_verdict import of_joined
from diagnostics.cluster.one_record import JoinedRecord, joined_record
from diagnostics.cluster.verdict import HEALTHY, ClusterVerdict, RankOfHost, names_of_hosts
from diagnostics.core.errors import DoctorError
from diagnostics.core.findings import Confidence
from diagnostics.core.wording import shown_ranks
from diagnostics.record.torch_messages import is_lost_peer

SKEW_S = 1.0  # less is what the end of a collective and a start of a process may differ by
Examine = Callable[[JoinedRecord], str]  # the report of a record, as JSON; "" where it came to no end
_ADDRESS = re.compile(r"\b(\d{1,3}(?:\.\d{1,3}){3})\b")


def merged(found: Sequence[HostReport], examine: Examine | None = None) -> ClusterVerdict:
    """Returns one verdict over all hosts of the newest run among these.

    `examine` gives the report of their records as one job; without it, their own reports have to do.
    """
    run = incarnations(found)
    hosts = run.newest
    told = [one for one in hosts if one.report is not None]
    silent = tuple(dict.fromkeys(one.host for one in hosts if one.report is None))
    offsets = offsets_s(told)
    world = max((one.world_size for one in told if one.world_size), default=None)
    seen = {rank for one in told for rank in one.ranks}
    missing = tuple(rank for rank in range(world or 0) if rank not in seen)
    roots = sorted((one for one in told if _failed_by_itself(one)), key=lambda one: _order(one, offsets))
    victims = [one for one in told if one not in roots and not _is_well(one)]
    base: dict[str, Any] = {
        "run_id": max(one.run_id for one in hosts), "hosts": tuple(dict.fromkeys(one.host for one in hosts)),
        "silent": silent,
        "missing_ranks": missing, "world_size": world, "ranks": _ranks(told, roots[:1]),
        "notes": (*run.notes, *_skew(told, offsets), *_code(told)),
        "reports": tuple(f"{one.path}/report.md" for one in told),
    }  # fmt: skip
    record = joined_record(hosts, offsets) if examine is not None else None
    told_of_all = _examined(record, examine) if record is not None and examine is not None else ""
    if record is not None and told_of_all:
        whole = of_joined(
            json.loads(record.true_numbers(told_of_all)),
            told,
            {"common": base, "addresses": {address: one.host for one in hosts for address in one.addresses}},
            well=not (roots or victims),
        )
        if whole is not None and (roots or not (silent or missing) or whole.confidence is not Confidence.POSSIBLE):
            return whole
    if roots:
        return _of_root(roots, victims, base)
    if silent or missing:
        return _of_silence(silent, missing, victims, base)
    if victims:
        return _of_victims(victims, hosts, base)
    return ClusterVerdict(outcome="ok", words=_all_well(told), **base)


def _examined(record: JoinedRecord, examine: Examine) -> str:
    """Returns the report of the records as one job, "" where that came to no end: the hosts' own reports are there."""
    try:
        return examine(record)
    except DoctorError:
        return ""


def _of_root(roots: Sequence[HostReport], victims: Sequence[HostReport], base: Mapping[str, Any]) -> ClusterVerdict:
    first = roots[0]
    report = first.report or {}
    lost = f"; {names_of_hosts(victims)} only lost the connection to it, or waited for it" if victims else ""
    later = f"; {names_of_hosts(roots[1:])} failed later" if roots[1:] else ""
    return ClusterVerdict(
        outcome=str(report.get("outcome")), words=f"On {first.host}: {report.get('root_cause', '')}{lost}{later}",
        host=first.host, culprit_ranks=tuple(report.get("culprit_ranks") or ()),
        location=str(report.get("location") or ""), fix=str(report.get("fix") or ""),
        confidence=Confidence(report["confidence"]) if report.get("confidence") in set(Confidence) else
        Confidence.POSSIBLE, **base,
    )  # fmt: skip


def _of_silence(
    silent: Sequence[str], missing: Sequence[int], victims: Sequence[HostReport], base: Mapping[str, Any]
) -> ClusterVerdict:
    """A host without a report is not therefore faulty: it may have been cut off from a shared folder, and be well."""
    who = f"No report from {'host' if len(silent) == 1 else 'hosts'} {', '.join(silent)}" if silent else "No report"
    which = f"{' with' if silent else ' from'} {shown_ranks(missing)}" if missing else ""
    lost = f"; {names_of_hosts(victims)} lost the connection to a peer, or waited for one" if victims else ""
    return ClusterVerdict(
        outcome="no-report", confidence=Confidence.POSSIBLE,
        words=f"{who}{which}: what happened there is not known{lost}",
        fix="look at that host: is it up, does it see the shared folder, what does reports/ hold there", **base,
    )  # fmt: skip


def _of_victims(victims: Sequence[HostReport], hosts: Sequence[HostReport], base: Mapping[str, Any]) -> ClusterVerdict:
    """Where all lost a peer and each is there: a link, where both its ends name the other."""
    of_address = {address: one.host for one in hosts for address in one.addresses}
    named = {
        (one.host, of_address[address])
        for one in victims
        for address in _ADDRESS.findall(str((one.report or {}).get("root_cause", "")))
        if of_address.get(address, one.host) != one.host
    }
    links = sorted({tuple(sorted(pair)) for pair in named if pair[::-1] in named})
    if links:
        words = f"The link between {' and '.join(links[0])} was lost: each end names the other, and no rank failed"
        return ClusterVerdict(outcome="link", words=words, confidence=Confidence.LIKELY, **base)
    words = f"{names_of_hosts(victims)} lost a peer or waited for one, and no host tells of a failure of its own"
    return ClusterVerdict(outcome="unknown", words=words, confidence=Confidence.POSSIBLE, **base)


def _failed_by_itself(one: HostReport) -> bool:
    report = one.report or {}
    if _is_well(one) or (not report.get("culprit_ranks") and report.get("outcome") != "crash"):
        return False
    return report.get("failure_class") != "unknown" and not is_lost_peer(str(report.get("root_cause", "")))


def _is_well(one: HostReport) -> bool:
    return str((one.report or {}).get("outcome")) in HEALTHY


def _order(one: HostReport, offsets: Mapping[str, float]) -> float:
    """Returns when its first culprit failed, by one clock for all hosts."""
    report = one.report or {}
    at = ended_s(one, tuple(report.get("culprit_ranks") or ()))
    return (at if at is not None else float("inf")) - offsets.get(one.path, 0.0)


def _ranks(told: Iterable[HostReport], roots: Sequence[HostReport]) -> tuple[RankOfHost, ...]:
    found = [
        RankOfHost(
            rank=row["rank"], host=one.host, ended=str(row.get("ended", "")),
            role=str(row.get("role", "")) if one in roots or _is_well(one) else "victim",
            last_collective=str(row.get("last_collective") or ""),
        )
        for one in told
        for row in rows(one)
        if isinstance(row.get("rank"), int)
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda row: (row.rank, row.host)))


def _skew(told: Sequence[HostReport], offsets: Mapping[str, float]) -> list[str]:
    return [
        f"the clock of {one.host} is {abs(offset):.1f} s {'ahead' if offset > 0 else 'behind'}, by collectives that "
        "all finished together; times here are corrected by it"
        for one in told
        if abs(offset := offsets.get(one.path, 0.0)) > SKEW_S
    ]


def _code(told: Sequence[HostReport]) -> list[str]:
    """Names files that are not the same on all hosts, with the hosts that are alone with theirs."""
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in told:
        for path, digest in one.sources.items():
            texts[path][digest].append(one.host)
    return [
        f"{path} is not the same on all hosts: "
        + " against ".join(", ".join(sorted(set(one))) for one in each.values())
        for path, each in sorted(texts.items())
        if len(each) > 1
    ]


def _all_well(told: Sequence[HostReport]) -> str:
    return f"All {len(told)} hosts ended well" if len(told) > 1 else f"{told[0].host} ended well"
