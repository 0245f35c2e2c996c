"""The job's folder differs between hosts.

What it does: hashes the sources (.py, .yaml, .sh and the like: what git takes, else all but environments and outputs)
below the folder in which the command was started, and asks git for commit and changes.

Why it matters: ranks that run different programs part at the first collective that only some of them have; the job
hangs, or trains two models as one.

Fix: bring one copy to all hosts: `git pull`, `rsync -a --delete`, or a shared folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.answers import FolderPrints
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.several_hosts.wording import different, named, sides, survey_of, usual, verb

CODE = "P906"
NAME = "code-equal"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

SHOWN = 5  # files


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where hosts have other sources than most."""
    survey = survey_of(config)
    folder = survey.settings.folder
    there = {place: one for place, one in survey.prints.items() if not one.missing}
    missing = [place for place, one in survey.prints.items() if one.missing]
    if missing:
        return ProbeResult(title="", findings=(_missing(survey, missing),))
    if not any(one.files for one in there.values()):
        raise Skip(f"no sources in {folder}")
    if not all(one.whole for one in there.values()):
        raise Skip(f"{folder} has too many sources to hash in time; start this in the job's own folder")
    totals = {place: one.total for place, one in there.items()}
    if different(totals):
        return ProbeResult(title="", findings=(_differs(survey, there, totals),))
    some = next(iter(there.values()))
    commit = f", commit {some.commit[:10]}{' with changes' if some.dirty else ''}" if some.commit else ""
    return ProbeResult(
        title=f"the same {len(some.files)} sources on all hosts{commit}",
        measured={"files": len(some.files), "commit": some.commit, "dirty": some.dirty},
    )


def _missing(survey: Survey, places: list[int]) -> Finding:
    folder = survey.settings.folder
    return Finding(
        code=CODE,
        name="code-missing",
        severity=Severity.ERROR,
        title=f"there is no folder {folder} on {named(survey, places)}",
        where=named(survey, places),
        evidence=(Evidence(source=f"ls -d {folder}", observed="no such folder", expected="the job's sources"),),
        fix=Fix(text="copy it there, or start this in the folder that all hosts have"),
    )


def _differs(survey: Survey, there: Mapping[int, FolderPrints], totals: Mapping[int, str]) -> Finding:
    others = different(totals)
    names = sorted({name for one in there.values() for name in one.files})
    values = {name: {place: one.files.get(name, "missing") for place, one in there.items()} for name in names}
    changed = [name for name in names if len({*values[name].values()}) > 1]
    commits = {place: one.commit[:10] + ("+changes" if one.dirty else "") for place, one in there.items()}
    files = ", ".join(changed[:SHOWN]) + (f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else "")
    known = usual(totals) is not None
    evidence = [Evidence(source=f"sha256sum {name}", observed=sides(survey, values[name])) for name in changed[:SHOWN]]
    if len({*commits.values()}) > 1:
        evidence.append(Evidence(source="git rev-parse HEAD; git status", observed=sides(survey, commits)))
    title = (
        f"{verb(others, 'host', 'hosts')} {named(survey, others)} {verb(others, 'has', 'have')} other code than "
        f"the rest: {files}"
        if known
        else f"hosts have different code, and no copy is that of most: {files}"
    )
    return Finding(
        code=CODE,
        name="code-differs",
        severity=Severity.ERROR,
        title=title,
        where=named(survey, others) if known else "no majority",
        evidence=tuple(evidence),
        fix=Fix(text=f"bring one copy of {survey.settings.folder} to all hosts"),
    )
