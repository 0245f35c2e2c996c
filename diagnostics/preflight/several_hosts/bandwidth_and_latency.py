"""A host or a link is much slower than the others.

What it does: measures bandwidth in both directions and the round trip of a small message, one pair a host at a time:
all pairs of few hosts, the edges of a ring of many. What is slow is measured again with nothing else going on, and told
only where it is slow again.

Why it matters: a ring of ranks is as fast as its slowest edge: one port that came up at 1 Gbit/s slows the whole job,
and no message says so.

Fix: look at the speed of the port: `ethtool eth0`, the cable, and who else uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.hosts.answers import Speed
from diagnostics.hosts.rounds import Pair
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.several_hosts.wording import survey_of

CODE = "P910"
NAME = "bandwidth-and-latency"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

COMPARED_FROM = 3  # pairs; fewer have no middle one


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each host or link that stayed slow when measured alone."""
    survey = survey_of(config)
    speeds = survey.speeds
    rates = {pair: value for pair, one in speeds.pairs.items() if (value := one.slower_bytes_s) is not None}
    if not rates:
        raise Skip("no two hosts that reach each other")
    delays = {pair: one.rtt_s for pair, one in speeds.pairs.items() if one.rtt_s is not None}
    usual, usual_s = median(rates.values()), median(delays.values())
    ratio = config.thresholds.slower_than_other_pairs
    slow = {
        pair: one
        for pair, one in speeds.again.items()
        if one.slower_bytes_s is not None and one.rtt_s is not None
        if usual / max(one.slower_bytes_s, 1.0) > ratio or (one.rtt_s / usual_s > ratio and one.rtt_s > 1e-3)
    }
    compared = "" if len(rates) >= COMPARED_FROM else "; too few pairs to say whether that is slow"
    return ProbeResult(
        title=f"{gbit(usual)} and {usual_s * 1e6:.0f} us between two hosts, the middle of {len(rates)} pairs{compared}",
        findings=tuple(_findings(survey, rates, slow, usual, usual_s)),
        measured={
            "median_gbit_s": usual * 8e-9,
            "slowest_gbit_s": min(rates.values()) * 8e-9,
            "median_rtt_us": usual_s * 1e6,
            "slowest_rtt_us": max(delays.values()) * 1e6,
        },
    )


def _findings(
    survey: Survey, rates: Mapping[Pair, float], slow: Mapping[Pair, Speed], usual: float, usual_s: float
) -> list[Finding]:
    """Names a host where all its pairs are slow, else each pair."""
    findings: list[Finding] = []
    left = dict(slow)
    for host in sorted({end for pair in slow for end in pair}):
        measured = [pair for pair in rates if host in pair]
        others = [pair for pair in rates if host not in pair and pair not in slow]
        own = [pair for pair in measured if pair in left]
        if len(own) > 1 and len(own) == len(measured) and others:
            findings.append(
                _finding(survey, f"host {survey.hosts[host].plain_name} is slow", own, slow, usual, usual_s)
            )
            left = {pair: one for pair, one in left.items() if pair not in own}
    for pair in sorted(left):
        one, other = (survey.hosts[end].plain_name for end in pair)
        title = f"the link between {one} and {other} is slow"
        findings.append(_finding(survey, title, [pair], slow, usual, usual_s))
    return findings


def _finding(
    survey: Survey, title: str, pairs: list[Pair], slow: Mapping[Pair, Speed], usual: float, usual_s: float
) -> Finding:
    rate = min(value for pair in pairs if (value := slow[pair].slower_bytes_s) is not None)
    delay_s = max(value for pair in pairs if (value := slow[pair].rtt_s) is not None)
    seen = f"{gbit(rate)} and {delay_s * 1e6:.0f} us"
    expected = f"{gbit(usual)} and {usual_s * 1e6:.0f} us as between the others"
    ends = " - ".join(survey.hosts[end].plain_name for end in pairs[0])
    return Finding(
        code=CODE,
        name="slow-between-hosts",
        severity=Severity.WARNING,
        title=f"{title}: {seen}, {expected}",
        where=title.split(" is ")[0].removeprefix("host ").removeprefix("the link between "),
        evidence=(Evidence(source=f"TCP, measured alone, {ends}", observed=seen, expected=expected),),
        fix=Fix(text="look at the port's speed, its cable, and who else uses it", commands=("ethtool INTERFACE",)),
        confidence=Confidence.LIKELY,
    )


def gbit(bytes_s: float) -> str:
    """Returns a bandwidth for people."""
    return f"{bytes_s * 8e-9:.3g} Gbit/s" if bytes_s > 1.25e7 else f"{bytes_s * 8e-6:.3g} Mbit/s"
