"""The job may not read, write or execute something.

What it does: takes PermissionError, "Read-only file system", EPERM and exit code 126 of a shell, with the path and the
line that uses or sets it.

Why it matters: often only one rank writes, and the others report that they lost it.

Fix: correct owner and mode, or use a path the job's user may write.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.frames import shown_path
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import match_output, match_text, merged_locations
from diagnostics.dynamic.failures.full_disks import path_in
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.dynamic.launch.init_progress import anything_started
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_with

CODE = "D114"
NAME = "access-refused"
CLASS = "permission"
EXAMINES = AppliesTo.FAILED

REFUSED = re.compile(
    r"PermissionError|Permission denied|\[Errno 1\] Operation not permitted|\[Errno (?:13|30)\]|EACCES|EROFS"
    r"|Read-only file system|errno = (?:13|30)\b"
)
SHELL = re.compile(
    r"(?:^|(?:^|:)\s*(?P<script>[^\s:][^:]*): (?:line )?(?P<line>\d+): |^[\w./-]+: )(?P<what>[^\s:]+): "
    r"(?:Permission denied|cannot execute|Operation not permitted|Is a directory)"
    r"|failed to run command [‘'\"](?P<run>[^’'\"]+)[’'\"]: Permission denied"
)


def match(job: Job) -> Match | None:
    """Returns who was refused what, and the line."""
    return _in_python(job) or _in_shell(job)


def _in_python(job: Job) -> Match | None:
    tellers = [one for one in match_text(job, REFUSED) if one.process.part is not ProcessRole.SHELL]
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    path = path_in(one.found.string[one.found.start() :]) or next((load.file for load in one.process.loads), "")
    shown = shown_path(path, job.facts.cwd) if path else "something"
    literal = re.compile(re.escape(path) + r"(?![\w/])") if len(path) > 3 else None
    set_at = [line.location for line in lines_with(job, literal)] if literal else []
    own = merged_locations(job, tellers) or launch_lines(job)  # a launcher that was refused has no lines of its own
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} may not use {shown}: {one.line[:160]}",
        evidence=one.evidence(job),
        fix=_fix(path),
        locations=distinct([*own, *set_at]),
    )


def _in_shell(job: Job) -> Match | None:
    found = match_output(job, SHELL)
    shells = [one for one in job.processes if one.part is ProcessRole.SHELL and one.end.exit_code == 126]
    if found is None or anything_started(job) or not (job.facts.exit_code == 126 or shells):
        return None
    what = found["what"] or found["run"]
    at = f"{shown_path(found['script'].removeprefix('./'), job.facts.cwd)}:{found['line']}" if found["line"] else ""
    calls = [line.location for line in lines_with(job, re.compile(re.escape(what)), "shell")]
    return blamed(
        job,
        [],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{what} could not be executed: {found.string.strip()[:160]}",
        evidence=(Evidence(source="output of the job", observed=found.string.strip()[:300]),),
        fix=_fix_of_program(what, found.string),
        locations=distinct([at, *calls]),
        explains=[one.pid for one in job.processes if one.failed],
        began_s=0.0,
    )  # fmt: skip


def _fix_of_program(what: str, said: str) -> Fix:
    """A name without a folder was looked for in PATH: it is no file of the user's to be given to an interpreter."""
    if what in (".", "..") or what.endswith("/") or "Is a directory" in said:
        return Fix(text=f"{what} is a folder: name the program in it", commands=(f"ls -ld {what}",))
    if "/" not in what:
        return Fix(
            text=f"a folder of PATH holds {what}, or may hold it, and this user may not use it: name {what} by its "
            "full path, or take that folder out of PATH",
            commands=(f"type -a {what}", "id"),
        )
    interpreter = "python" if what.endswith(".py") else "bash"
    return Fix(
        text=f"start it through its interpreter: {interpreter} {what}; or make it executable, where its first line "
        "names that",
        commands=(f"chmod +x {what}", f"ls -l {what}"),
    )


def _fix(path: str) -> Fix:
    return Fix(
        text=f"give the user of the job access to {path or 'it'}, or write below a folder of its own",
        commands=(f"ls -ld {path}", "id") if path else ("id",),
    )
