"""A host's own name, or the name of the first host, leads nowhere or to the wrong place.

What it does: has each host resolve its own name and those of all others, as torch does, and compares the answers with
the addresses that the hosts really have.

Why it matters: torchrun resolves its host's own name as it starts and ends within seconds where that fails; gloo
publishes the address that its host's name leads to, and 127.0.1.1, as Debian writes it into /etc/hosts, sends every
peer to itself; a MASTER_ADDR that does not resolve, or to another address, leaves ranks waiting for nobody.

Fix: one line a host in /etc/hosts of all hosts (or in the name server), with the address of the network of the job.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.several_hosts.wording import listed, named, survey_of, verb

CODE = "P902"
NAME = "names-of-hosts"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

SLOW_S = 2.0  # a name server that answers the second question only


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each name that stands in the way of ranks."""
    survey = survey_of(config)
    findings = [*_own_names(survey), *_first_host(survey), *_slow(survey)]
    return ProbeResult(title="each host's name resolves, there and on the others", findings=tuple(findings))


def _own_names(survey: Survey) -> Iterator[Finding]:
    lost = [place for place, about in survey.about.items() if about.own.error]
    if lost:
        own, address = survey.about[lost[0]].hostname, survey.addresses.get(lost[0], "ADDRESS")
        yield _finding(
            survey, lost, "own-hostname-unresolvable", Severity.ERROR,
            f"{named(survey, lost)} {verb(lost, 'does', 'do')} not resolve {verb(lost, 'its', 'their')} own name "
            f"({_each(survey, lost)}): torchrun ends there as it starts",
            f"getent hosts {own}", survey.about[lost[0]].own.error, address,
            (f"echo '{address} {own}' >> /etc/hosts  # on {survey.hosts[lost[0]].plain_name}",),
        )  # fmt: skip
    loops = [
        place for place, about in survey.about.items()
        if about.own.only_loopback and not about.variables.get("GLOO_SOCKET_IFNAME")
    ]  # fmt: skip
    if loops:
        first = survey.about[loops[0]]
        # Two such hosts never meet. One alone does, where gloo has it connect to the others: P911 tries it.
        yield _finding(
            survey, loops, "own-hostname-is-loopback", Severity.ERROR if len(loops) > 1 else Severity.WARNING,
            f"{named(survey, loops)} {verb(loops, 'resolves its', 'resolve their')} own name ({_each(survey, loops)}) "
            f"to {', '.join(first.own.addresses)}: gloo's peers are told to connect there, which is each peer itself",
            f"getent ahosts {first.hostname}", ", ".join(first.own.addresses), survey.addresses.get(loops[0], ""),
            (f"export GLOO_SOCKET_IFNAME={_interface(survey, loops[0])}",),
            Confidence.CONFIRMED if len(loops) > 1 else Confidence.LIKELY,
        )  # fmt: skip


def _each(survey: Survey, places: list[int]) -> str:
    return listed(sorted({survey.about[place].hostname for place in places}))


def _first_host(survey: Survey) -> Iterator[Finding]:
    """The first host's name is what MASTER_ADDR and --rdzv-endpoint are usually made of."""
    first = survey.hosts[0].plain_name
    real = {one for card in survey.about[0].cards for one in card.addresses} if 0 in survey.about else set[str]()
    others = {place: about.names[first] for place, about in survey.about.items() if place and first in about.names}
    lost = [place for place, name in others.items() if name.error]
    if lost:
        # With an address beside the name the job may do without it.
        severity = Severity.WARNING if survey.hosts[0].address else Severity.ERROR
        errors = sorted({others[place].error for place in lost})
        yield _finding(
            survey, lost, "first-host-unresolvable", severity,
            f"{named(survey, lost)} {verb(lost, 'does', 'do')} not resolve the name of the first host, "
            f"{first}: a MASTER_ADDR of that name leads nowhere from there",
            f"getent hosts {first}", "; ".join(errors), survey.addresses.get(0, "an address"),
            (f"export MASTER_ADDR={survey.addresses[0]}",) if survey.addresses.get(0) else (),
        )  # fmt: skip
    wrong = [place for place, name in others.items() if not name.error and real and not real & {*name.addresses}]
    if wrong:
        seen = sorted({one for place in wrong for one in others[place].addresses})
        yield _finding(
            survey, wrong, "first-host-resolves-elsewhere", Severity.WARNING,
            f"{named(survey, wrong)} {verb(wrong, 'resolves', 'resolve')} the name of the first host, "
            f"{first}, to {', '.join(seen)}, which is no address of any of its interfaces",
            f"getent ahosts {first}", ", ".join(seen), ", ".join(sorted(one for one in real if one)),
            (f"export MASTER_ADDR={survey.addresses[0]}",) if survey.addresses.get(0) else (),
            Confidence.LIKELY,
        )  # fmt: skip


def _slow(survey: Survey) -> Iterator[Finding]:
    late = {
        place: max(about.own.seconds, *(name.seconds for name in about.names.values()))
        for place, about in survey.about.items()
        if not about.own.error and all(not name.error for name in about.names.values())
    }
    slow = [place for place, seconds in late.items() if seconds > SLOW_S]
    if slow:
        yield _finding(
            survey, slow, "names-resolve-slowly", Severity.WARNING,
            f"names take {max(late[place] for place in slow):.1f} s to resolve on {named(survey, slow)}",
            "time getent hosts NAME", f"{max(late[place] for place in slow):.1f} s", f"less than {SLOW_S:.0f} s",
            ("cat /etc/resolv.conf  # the first name server does not answer",),
        )  # fmt: skip


def _interface(survey: Survey, place: int) -> str:
    card = survey.about[place].card_of(survey.addresses.get(place, ""))
    return card.name if card is not None else "INTERFACE"


def _finding(
    survey: Survey,
    places: list[int],
    name: str,
    severity: Severity,
    title: str,
    source: str,
    observed: str,
    expected: str,
    commands: tuple[str, ...],
    confidence: Confidence = Confidence.CONFIRMED,
) -> Finding:
    return Finding(
        code=CODE,
        name=name,
        severity=severity,
        title=title,
        where=named(survey, places),
        evidence=(Evidence(source=f"{source}  # on {named(survey, places)}", observed=observed, expected=expected),),
        fix=Fix(
            text="give the name the address by which the other hosts reach it, or name the address", commands=commands
        ),
        confidence=confidence,
    )
