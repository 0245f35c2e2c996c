"""GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME names what a host does not have, or is set on some hosts only.

What it does: compares the variables with the interfaces of each host. Where hosts are started through ssh they get
these variables of this shell; a launcher passes on its own.

Why it matters: gloo ends every rank of a host where the interface is missing ("Unable to find address for"), and the
others wait; interfaces of hosts that were bought at different times have different names.

Fix: name what each host has (NCCL takes several, and prefixes: `eth,en`), or set the variable host by host.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.answers import AboutHost
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.several_hosts.wording import different, named, sides, survey_of

CODE = "P903"
NAME = "socket-interfaces"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

VARIABLES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each host whose variable names nothing that could be used."""
    survey = survey_of(config)
    findings = [one for variable in VARIABLES for one in (*_missing(survey, variable), *_on_some(survey, variable))]
    cards = sorted(
        {card.name for p, about in survey.about.items() if (card := about.card_of(survey.addresses.get(p, "")))}
    )
    return ProbeResult(
        title=f"hosts are reached at {', '.join(cards) or 'no interface of theirs'}", findings=tuple(findings)
    )


def _missing(survey: Survey, variable: str) -> Iterator[Finding]:
    for place, about in survey.about.items():
        value = about.variables.get(variable, "")
        if value and not value.startswith("^") and not _usable(about, variable, value):
            host = survey.hosts[place].plain_name
            has = ", ".join(card.name for card in about.cards if card.up and card.addresses and not card.loopback)
            yield Finding(
                code=CODE,
                name="socket-interface-missing-on-host",
                severity=Severity.ERROR,
                title=f"{variable}={value} names no interface with an address on host {host}; it has {has or 'none'}",
                where=host,
                evidence=(Evidence(source=f"ip -brief address  # on {host}", observed=has or "none", expected=value),),
                fix=Fix(
                    text=f"name an interface of {host} there, or unset {variable}", commands=(f"unset {variable}",)
                ),
            )


def _on_some(survey: Survey, variable: str) -> Iterator[Finding]:
    values = {place: about.variables.get(variable, "") for place, about in survey.about.items()}
    if "" in values.values() and (others := different(values)):
        yield Finding(
            code=CODE,
            name="socket-interface-on-some-hosts",
            severity=Severity.WARNING,
            title=f"{variable} is set on some hosts only: {sides(survey, values)}",
            where=named(survey, others),
            evidence=(
                Evidence(source=f"env | grep {variable}", observed=sides(survey, values), expected="one choice"),
            ),
            fix=Fix(text="set it on all hosts or on none"),
        )


def _usable(about: AboutHost, variable: str, value: str) -> bool:
    """NCCL takes prefixes, `=eth0` an exact name, and `eth0:port`; gloo takes exact names."""
    for name in filter(None, (one.strip() for one in value.split(","))):
        wanted = name.removeprefix("=").partition(":")[0]
        exact = not variable.startswith("NCCL") or name.startswith("=")
        for card in about.cards:
            if card.addresses and card.up and (card.name == wanted or (not exact and card.name.startswith(wanted))):
                return True
    return False
