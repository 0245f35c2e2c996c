"""The network between two hosts carries nothing any more, and no rank is to blame.

What it does: where a job stood still, and what its ranks sent to another machine was sent again and again without an
acknowledgement of that machine's kernel, names the two addresses; where records of several hosts are read together, the
host that all others do not get through to.

Why it matters: a cut link, a switch that drops and a machine that lost its power look like a hang in a collective. No
error comes until the process group's timeout, and that one names a rank that is well.

Fix: try the link by itself, from both of its ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.divergence.deadlock_diagnosis import deadlock_diagnosis
from diagnostics.dynamic.job.evidence import names_of, stood_still
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.stall.rank_activity import rank_positions
from diagnostics.dynamic.stall.silent_connections import SilentConnection, cut_off, silent_connections

CODE = "D347"
NAME = "network-carries-nothing"
CLASS = "network-lost"
EXAMINES = AppliesTo.ANY
SHOWN = 6


def match(job: Job) -> Match | None:
    """Returns the link or the host that is cut off; None where what was sent was acknowledged, or a rank is away."""
    if not stood_still(job):
        return None
    found = silent_connections(job)
    if not found or any(one.stand is Whereabouts.OUTSIDE for one in rank_positions(job)):
        return None
    if deadlock_diagnosis(job) is not None:  # what it waits for comes over no network
        return None
    pairs = [*dict.fromkeys(frozenset((one.here, one.there)) for one in found)]
    both = [pair for pair in pairs if len({one.here for one in found if {one.here, one.there} == pair}) > 1]
    alone = cut_off(pairs)
    there = [one.process for one in found if one.here == alone]
    stall = next((one for one in reversed(job.facts.stalls) if one.over_s is None), None)
    return blamed(
        job,
        there,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(found, pairs, alone),
        evidence=[
            Evidence(
                source=f"record/captures/proc-{one.process.pid}.json: sockets",
                observed=f"{names_of([one.process])}: {one.waiting_bytes} bytes from {one.here} to {one.there} were "
                f"sent again {one.sent_again} times and never acknowledged",
                expected="an acknowledgement within milliseconds, whatever the process there does",
            )
            for one in found[:SHOWN]
        ],
        fix=Fix(
            text="look at the link and the machine behind it (cable, switch, route, firewall, power); before the next "
            "start let the hosts try each other: ups-doctor preflight --hosts FILE"
        ),
        confidence=Confidence.CONFIRMED if both else Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[one.pid for one in job.ranks],
        victims=[one.process for one in found if one.process not in there],
        began_s=stall.began_s if stall is not None else None,
    )


def _title(found: Sequence[SilentConnection], pairs: Sequence[frozenset[str]], alone: str) -> str:
    if alone:
        others = sorted(address for pair in pairs for address in pair if address != alone)
        return f"The network carries nothing between {alone} and {', '.join(others)}: {alone} is cut off, or is down"
    shown = [" and ".join(sorted(pair)) for pair in pairs[:SHOWN]]
    ends = {one.here for one in found}
    heard = "" if len(ends) > 1 else f", as seen from {next(iter(ends))}"
    return f"The network carries nothing between {'; '.join(shown)}{heard}: all ranks wait, and none is to blame"
