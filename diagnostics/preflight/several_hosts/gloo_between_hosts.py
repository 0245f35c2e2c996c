"""Torch's own gloo does not get through between the hosts.

What it does: one process a host imports torch, meets the others at a store on the first host and reduces a tensor over
all of them; each step has its deadline. It comes last, and only where plain sockets found nothing in the way.

Why it matters: torch chooses address and interface by rules of its own. What passes here is what a job's first
collective on CPUs needs, and what NCCL needs to start.

Fix: what the error names; in most cases GLOO_SOCKET_IFNAME set to the interface of the job's network.
"""

from __future__ import annotations

from collections import Counter

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.answers import GlooRound
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.several_hosts.wording import named, survey_of

CODE = "P911"
NAME = "gloo-between-hosts"
STAGE = Stage.HOSTS
REQUIRES = ("P901", "P902", "P903", "P908")

PHASES = {
    "process": "before torch was asked",
    "import": "at `import torch`",
    "store": "while connecting to the store on the first host",
    "others": "while waiting for the other hosts at the store",
    "connect": "while connecting to the other hosts",
    "all_reduce": "in the reduction",
    "leave": "after the reduction",
}


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each way in which the round failed."""
    survey = survey_of(config)
    without = [place for place, about in survey.about.items() if not about.versions.get("torch")]
    if without:
        raise Skip(f"no torch in {survey.settings.python} on {named(survey, without)}")
    rows = survey.gloo
    failed = {place: row for place, row in rows.items() if row.phase != "done" or row.error}
    took = [row.all_reduce_s for row in rows.values() if row.all_reduce_s is not None]
    return ProbeResult(
        title=f"gloo of torch reduces over {len(rows)} hosts: 1 MiB in {max(took, default=0.0) * 1000:.0f} ms",
        findings=tuple(_findings(survey, failed, len(rows))),
        measured={"all_reduce_1_mib_ms": max(took, default=0.0) * 1000},
    )


def _findings(survey: Survey, failed: dict[int, GlooRound], hosts: int) -> list[Finding]:
    """One finding: who failed first is the earliest phase, the others are what followed from it."""
    if not failed:
        return []
    order = [*PHASES]
    first = min(failed.values(), key=lambda row: order.index(row.phase) if row.phase in order else len(order)).phase
    who = [place for place, row in failed.items() if row.phase == first]
    errors = Counter(row.error or "no answer" for row in failed.values())
    place = PHASES.get(first, first)
    where = named(survey, who)
    return [
        Finding(
            code=CODE,
            name="gloo-does-not-get-through",
            severity=Severity.ERROR,
            title=f"torch's gloo fails over {hosts} hosts {place}, on {where}: {errors.most_common(1)[0][0]}",
            where=where,
            evidence=tuple(
                Evidence(
                    source=f"ProcessGroupGloo on {named(survey, [p for p, row in failed.items() if row.error == one])}",
                    observed=one,
                    expected="a reduced tensor",
                )
                for one, _ in errors.most_common(3)
            ),
            fix=Fix(
                text="name the interface of the job's network on each host",
                commands=("export GLOO_SOCKET_IFNAME=" + _interface(survey, who[0]),),
            ),
        )
    ]


def _interface(survey: Survey, place: int) -> str:
    card = survey.about[place].card_of(survey.addresses.get(place, ""))
    return card.name if card is not None else "INTERFACE"
