"""The MTU of a host's interface differs from the others'.

What it does: compares the MTU of the interface at which each host is reached.

Why it matters: where routers or tunnels lie between, large packets of one host are dropped on the way and small ones
pass: connections are made, the first tensor hangs. On one switch TCP finds a common size, and RDMA does not.

Fix: one MTU on all hosts and switch ports: `ip link set dev eth0 mtu 9000`.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.several_hosts.wording import different, named, sides, survey_of, usual

CODE = "P909"
NAME = "mtu-equal"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where hosts are reached at interfaces of different MTU."""
    survey = survey_of(config)
    cards = {place: about.card_of(survey.addresses.get(place, "")) for place, about in survey.about.items()}
    values = {place: str(card.mtu) for place, card in cards.items() if card is not None}
    if len(values) < 2:
        raise Skip("the hosts are reached at addresses that are none of their interfaces'")
    others = different(values)
    if not others:
        return ProbeResult(title=f"MTU {usual(values)} on all hosts", measured={"mtu_bytes": usual(values)})
    some = cards[others[0]]
    to = usual(values) or max(values.values(), key=int)
    finding = Finding(
        code=CODE,
        name="mtu-differs",
        severity=Severity.WARNING,
        title=f"the MTU differs between hosts: {sides(survey, values)}",
        where=named(survey, others) if usual(values) is not None else "no majority",
        evidence=(
            Evidence(
                source="ip link show  # the interface at which each host is reached",
                observed=sides(survey, values),
                expected="one MTU",
            ),
        ),
        fix=Fix(
            text="set one MTU on all hosts and on the switch ports between them",
            commands=(f"ip link set dev {some.name if some is not None else 'INTERFACE'} mtu {to}",),
        ),
    )
    return ProbeResult(title="", findings=(finding,))
