"""A host gives no answer.

What it does: starts a program on each host of the list (through ssh or `--remote`), or waits for those that the
launcher has started, and asks each what it is. What a host's starter said on stderr is repeated.

Why it matters: a job waits for its last host. No answer is no proof of a fault of that host: the way to it, its
account, its Python or its place in the list may be at fault, and the words of ssh or of the shell say which.

Fix: run the same command by hand until it works without a question: `ssh -o BatchMode=yes HOST true`.
"""

from __future__ import annotations

import shlex

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P901"
NAME = "hosts-answer"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each host that does not answer."""
    if config.hosts is None:
        raise Skip("needs several hosts: ups-doctor preflight --hosts FILE")
    survey = config.hosts
    return ProbeResult(
        title=f"{len(survey.about)} hosts answer",
        findings=tuple(_silent(survey, place, reason) for place, reason in sorted(survey.absent.items())),
        measured={"hosts": len(survey.hosts), "answered": len(survey.about)},
    )


def _silent(survey: Survey, place: int, reason: str) -> Finding:
    host = survey.hosts[place]
    by_hand = survey.conversation.by_hand(host.name)
    return Finding(
        code=CODE,
        name="no-answer-from-host",
        severity=Severity.ERROR,
        title=f"no answer from host {host.plain_name}: {reason}",
        where=host.plain_name,
        evidence=(
            Evidence(
                source=shlex.join(by_hand) if by_hand else "the connections that came in at the first host",
                observed=reason,
                expected="an answer; that there is none does not say that the host is faulty",
            ),
        ),
        fix=Fix(
            text=f"bring {host.plain_name} to answer, or take it off the list",
            commands=(shlex.join([*by_hand, "-c", "true"]),) if by_hand else (),
        ),
    )
