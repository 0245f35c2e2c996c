"""The clock of a host is far from the others'.

What it does: asks every host for the time of day some times, and sets half of the shortest way there and back as the
limit of what is known; offsets are against the middle clock of all hosts.

Why it matters: torchrun's c10d rendezvous writes heartbeats with the time of day, and takes a host whose clock is 15 s
off for dead; below that, log files of hosts cannot be put in order, and files on a shared disk are newer than now.

Fix: synchronise the clocks: `timedatectl set-ntp true`, or chronyd; in a container the clock is the host's.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.several_hosts.wording import survey_of

CODE = "P904"
NAME = "clocks-agree"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

TAKEN_FOR_DEAD_S = 15.0  # torch's dynamic rendezvous: 3 heartbeats of 5 s


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each clock that is certainly further off than the limit."""
    survey = survey_of(config)
    limit_s = config.thresholds.max_clock_skew_s
    off = {
        place: one.offset_s
        for place, one in survey.clocks.items()
        if abs(one.offset_s) - one.uncertainty_s > (limit_s / 2 if len(survey.clocks) == 2 else limit_s)
    }
    widest = max((abs(one.offset_s) for one in survey.clocks.values()), default=0.0)
    known = max((one.uncertainty_s for one in survey.clocks.values()), default=0.0)
    findings = (
        (_of_two(survey),) if off and len(survey.clocks) == 2 else tuple(_off(survey, *one) for one in off.items())
    )
    return ProbeResult(
        title=f"clocks agree within {max(widest, known) * 1000:.0f} ms",
        findings=findings,
        measured={"widest_offset_ms": widest * 1000, "uncertainty_ms": known * 1000},
    )


def _off(survey: Survey, place: int, offset_s: float) -> Finding:
    host = survey.hosts[place].plain_name
    known = survey.clocks[place].uncertainty_s
    way = "ahead of" if offset_s > 0 else "behind"
    return _finding(host, f"the clock of host {host} is {abs(offset_s):.1f} s {way} the others'", offset_s, known)


def _of_two(survey: Survey) -> Finding:
    """Two clocks say that one of them is wrong, and not which."""
    (one, first), (other, second) = survey.clocks.items()
    apart = first.offset_s - second.offset_s
    hosts = [survey.hosts[place].plain_name for place in (one, other)]
    ahead, behind = hosts if apart > 0 else hosts[::-1]
    title = (
        f"the clock of host {ahead} is {abs(apart):.1f} s ahead of that of {behind}; which is right is undecidable "
        "with two"
    )
    return _finding(" and ".join(hosts), title, apart, first.uncertainty_s + second.uncertainty_s)


def _finding(where: str, title: str, offset_s: float, known_s: float) -> Finding:
    dead = abs(offset_s) - known_s > TAKEN_FOR_DEAD_S
    meaning = ": torchrun's c10d rendezvous takes such a host for dead" if dead else ""
    return Finding(
        code=CODE,
        name="clock-skew",
        severity=Severity.ERROR if dead else Severity.WARNING,
        title=title + meaning,
        where=where,
        evidence=(
            Evidence(
                source="date +%s.%N on all hosts at once",
                observed=f"{offset_s:+.3f} s, known to {known_s * 1000:.0f} ms",
                expected="0 s",
            ),
        ),
        fix=Fix(text="synchronise the clock", commands=("timedatectl set-ntp true", "chronyc makestep")),
    )
