"""A host or a link between hosts is cut.

What it does: each host listens on a free port, and each connects to every other, both ways, all pairs in rounds of an
edge colouring: small messages first, then a burst of full packets. A host is named where it fails with hosts that reach
each other; a link where both its ends are well with everybody else. What failed is tried twice.

Why it matters: gloo and NCCL connect every rank with others, and what is cut only shows as silence: the job waits for
its timeout, and torch's message names no peer, or names the victim.

Fix: look at what lies between: firewall or security group of the host that is named, its routes, cable or switch port.
Two hosts that do not reach each other prove nothing about either: add a third one to the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.hosts.answers import Contact
from diagnostics.hosts.conviction import BadHost, BadLink, Way
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.several_hosts.wording import named, survey_of

CODE = "P908"
NAME = "hosts-reach-each-other"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

PHASES = {
    "connect": "a connection",
    "hello": "the first byte of a connection that was accepted",
    "small": "a small message",
    "burst": "a burst of full packets, after small messages had passed",
}


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each host and link that explains failures."""
    survey = survey_of(config)
    reached = survey.reached
    if len(survey.ports) < 2 or not reached.contacts:
        raise Skip("fewer than two hosts have an address that others could connect to")
    guilt = reached.conviction
    findings = [
        *(_host(survey, one) for one in guilt.hosts),
        *(_link(survey, one) for one in guilt.links),
        *([_groups(survey)] if guilt.groups else []),
        *([_undecided(survey, guilt.undecided)] if guilt.undecided else []),
    ]
    pairs = len({(min(way), max(way)) for way in reached.contacts})
    delays = [one.rtt_s for one in reached.contacts.values() if one.rtt_s is not None]
    return ProbeResult(
        title=f"{len(survey.ports)} hosts reach each other, both ways: {pairs} pairs, {reached.rounds} rounds",
        findings=tuple(findings),
        measured={"pairs": pairs, "slowest_rtt_us": max(delays, default=0.0) * 1e6},
    )


def _host(survey: Survey, bad: BadHost) -> Finding:
    name = survey.hosts[bad.host].plain_name
    well, failed = len(bad.tried_with), len(bad.failed_with)
    others = f"the {well} other hosts it was tried with, which reach each other"
    titles = {
        Way.BOTH: f"host {name} and {others}, do not reach each other",
        Way.INCOMING: f"host {name} reaches {others}, but none of them reaches {name}",
        Way.OUTGOING: f"host {name} is reached by {others}, but reaches none of them",
        Way.PARTLY: f"host {name} and {failed} of {others}, do not reach each other",
    }
    ways = [(bad.host, one) for one in bad.failed_with] + [(one, bad.host) for one in bad.failed_with]
    return Finding(
        code=CODE,
        name="host-cut-off",
        severity=Severity.ERROR,
        title=titles[bad.way],
        where=name,
        evidence=_evidence(survey, ways),
        fix=Fix(text=_remedy(survey, ways, bad.way, name), commands=(f"ip route; ip -s link  # on {name}",)),
    )


def _link(survey: Survey, bad: BadLink) -> Finding:
    one, other = (survey.hosts[end].plain_name for end in bad.ends)
    if len(bad.ways) == 1:
        source, target = (survey.hosts[end].plain_name for end in bad.ways[0])
        title = (
            f"host {source} does not reach host {target}, though {target} reaches {source}, and both reach all others"
        )
    else:
        title = f"hosts {one} and {other} do not reach each other, and both reach all others"
    return Finding(
        code=CODE,
        name="link-cut",
        severity=Severity.ERROR,
        title=title,
        where=f"{one} - {other}",
        evidence=_evidence(survey, bad.ways),
        fix=Fix(
            text=f"look at what is between {one} and {other} only: a route or a firewall rule on one of them, a path "
            "through a switch",
            commands=tuple(
                f"ip route get {survey.addresses[target]}  # on {survey.hosts[source].plain_name}"
                for source, target in (bad.ends, bad.ends[::-1])
            ),
        ),
    )


def _groups(survey: Survey) -> Finding:
    groups = survey.reached.conviction.groups
    ways = [way for way, one in survey.reached.contacts.items() if not one.good]
    return Finding(
        code=CODE,
        name="hosts-in-separate-groups",
        severity=Severity.ERROR,
        title="the hosts fall into groups that do not reach each other: "
        + "; ".join(named(survey, group) for group in groups),
        where="; ".join(named(survey, group) for group in groups),
        evidence=_evidence(survey, ways),
        fix=Fix(text="look at what lies between the groups: a router, a VLAN, a security group"),
    )


def _undecided(survey: Survey, why: str) -> Finding:
    ways = [way for way, one in survey.reached.contacts.items() if not one.good]
    places = {place for way in ways for place in way}
    return Finding(
        code=CODE,
        name="hosts-do-not-reach-each-other",
        severity=Severity.ERROR,
        title=f"{named(survey, places)} do not reach each other; which of them is at fault is undecidable: {why}",
        where=named(survey, places),
        evidence=_evidence(survey, ways),
        fix=Fix(text="add another host to the list, one that is known to be well: who fails with it too is the one"),
        confidence=Confidence.CONFIRMED,
    )


def _evidence(survey: Survey, ways: Iterable[tuple[int, int]]) -> tuple[Evidence, ...]:
    """Returns one line for each kind of failure, the most frequent first, with an example to repeat."""
    contacts = survey.reached.contacts
    failed = {way: contacts[way] for way in ways if way in contacts and not contacts[way].good}
    kinds = Counter(_kind(one) for one in failed.values())
    lines = []
    for kind, count in kinds.most_common(3):
        source, target = min(way for way, one in failed.items() if _kind(one) == kind)
        lines.append(
            Evidence(
                source=f"TCP from {survey.hosts[source].plain_name} to {survey.addresses[target]} "
                f"({survey.hosts[target].plain_name})" + (f" and {count - 1} more" if count > 1 else ""),
                observed=kind,
                expected="an answer",
            )
        )
    return tuple(lines)


def _kind(one: Contact) -> str:
    return f"{one.error or 'no answer'} while waiting for {PHASES.get(one.phase, one.phase)}"


def _remedy(survey: Survey, ways: list[tuple[int, int]], way: Way, name: str) -> str:
    contacts = survey.reached.contacts
    phases = {contacts[one].phase for one in ways if one in contacts and not contacts[one].good}
    if phases == {"burst"}:
        return f"large packets to or from {name} vanish: set one MTU on {name}, its switch port and the other hosts"
    if way is Way.INCOMING:
        return f"let connections in on {name}: its firewall or security group drops them (gloo and NCCL use any port)"
    if way is Way.OUTGOING:
        return f"let connections out of {name}: look at its firewall and its routes"
    return f"look at {name} first: its routes and firewall, its cable or switch port"
