"""Data that all hosts should have differs, or is missing on some.

What it does: for each `--data PATH` compares the names and sizes of all files below it, and samples of their bytes
(beginning, middle, end), between the hosts.

Why it matters: ranks that read other files give other batches, or another number of them: the job hangs at the end of
the first epoch, or trains on what nobody knows.

Fix: copy the data again, or put it on a disk that all hosts share.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.answers import DataPrint
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import NotApplicable, PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.several_hosts.wording import different, named, sides, survey_of, usual

CODE = "P907"
NAME = "data-equal"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each path that is not the same everywhere."""
    survey = survey_of(config)
    if not survey.settings.data:
        raise NotApplicable("no --data PATH was named")
    findings = []
    late = []
    for number, path in enumerate(survey.settings.data):
        rows = {place: one.data[number] for place, one in survey.prints.items() if len(one.data) > number}
        if not all(row.whole for row in rows.values()):
            late.append(path)
        elif finding := _compared(survey, path, rows):
            findings.append(finding)
    if late and not findings:
        raise Skip(f"{', '.join(late)} could not be read in time")
    total = sum(row.files for row in next(iter(survey.prints.values())).data) if survey.prints else 0
    return ProbeResult(
        title=f"the same {total} files of data on all hosts, by size and samples", findings=tuple(findings)
    )


def _compared(survey: Survey, path: str, rows: dict[int, DataPrint]) -> Finding | None:
    shown = {
        p: "nothing there" if row.missing else f"{row.files} files, {row.size} bytes, {row.hash}"
        for p, row in rows.items()
    }
    others = different(shown)
    if not others and not any(row.missing for row in rows.values()):
        return None
    places = others or [*rows]
    lost = [place for place, row in rows.items() if row.missing]
    known = usual(shown) is not None
    if lost:
        name, title = "data-missing", f"{path} is missing on {named(survey, lost)}"
    else:
        who = f"on {named(survey, places)} than on the others" if known else "from host to host"
        name, title = "data-differs", f"{path} holds other data {who}"
    return Finding(
        code=CODE,
        name=name,
        severity=Severity.ERROR,
        title=title,
        where=named(survey, lost or places),
        evidence=(
            Evidence(
                source=f"names, sizes and samples below {path}", observed=sides(survey, shown), expected="the same"
            ),
        ),
        fix=Fix(text="copy the data again from one host, or share one folder"),
    )
