"""The launcher, or the program it should run, does not exist.

What it does: reads "command not found", "No module named torch.distributed.run" and "can't open file 'trian.py'" of a
job in which no rank made a process group or a step, and names the line of the script that starts it.

Why it matters: shells go on after a missing command, so that the message is far above what the job says last, and
torchrun reports a mistyped script as a failure of every rank.

Fix: install the launcher into the environment in use, call it as `python -m`, or correct the path.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frames import shown_path
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_output, match_text
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.dynamic.launch.init_progress import anything_started
from diagnostics.dynamic.launch.launch_settings import lines_with
from diagnostics.dynamic.model.model_classes import called_name

CODE = "D101"
NAME = "launcher-not-found"
CLASS = "launcher-missing"
EXAMINES = AppliesTo.FAILED

COMMAND = re.compile(
    r"(?:^|(?:^|:)\s*(?P<script>[^\s:][^:]*): (?:line )?(?P<line>\d+): (?:exec: )?|^[\w./-]+: )"
    r"(?P<what>[\w./+-]+): (?:command not found|not found|No such file or directory"
    r"|(?:\S+: )?bad interpreter: No such file or directory|cannot execute: required file not found)$"
    r"|(?:env|nohup|timeout|exec|nice|stdbuf|time|setsid|sudo|xargs)\b.{0,60}?"
    r"[‘'\"](?P<run>[^’'\"]+)[’'\"]: No such file"
)
MODULE = re.compile(
    r"No module named ['\"]?(?P<what>(?:torch|accelerate|deepspeed|lightning)(?:\.[\w.]+)?)['\"]?\)?$"
    r"|Error while finding module specification for '(?P<run>[\w.]+)'"
)
SCRIPT = re.compile(
    r"can't open file ['\"](?P<what>[^'\"]+)['\"]: \[Errno 2\]|can't find '__main__' module in '(?P<run>[^']+)'"
)
LAUNCHING = re.compile(r"FileNotFoundError: \[Errno 2\] No such file or directory(?:: '(?P<what>[\w./-]+)')?$")
RECIPE = re.compile(r"make(?:\[\d+\])?: \*\*\* \[(?P<file>[^\]:]+):(?P<line>\d+): [^\]]+\] Error 127$")
PROGRAMS = re.compile(
    r"^(?:.*/)?(?:torchrun|accelerate|deepspeed|mpirun|mpiexec|srun|horovodrun|lightning|python[\d.]*)$"
)
NO_INTERPRETER = re.compile(r"bad interpreter: No such file|cannot execute: required file not found")
NOT_FOUND = (126, 127)
INSTEAD = {
    "torchrun": "python -m torch.distributed.run",
    "accelerate": "python -m accelerate.commands.launch",
    "python": "python3",
}


def match(job: Job) -> Match | None:
    """Returns what was not found and the line that calls it; None once any rank got to work."""
    if anything_started(job):
        return None
    return _script(job) or _module(job) or _command(job) or _started_by_python(job)


def _command(job: Job) -> Match | None:
    found = match_output(job, COMMAND)
    if found is None:
        return None
    what = found["what"] or found["run"]
    shells = [one for one in job.processes if one.part is ProcessRole.SHELL and one.end.exit_code in NOT_FOUND]
    if not (PROGRAMS.match(what) or job.facts.exit_code in NOT_FOUND or shells):
        return None
    named = (
        (f"{shown_path(found['script'].removeprefix('./'), job.facts.cwd)}:{found['line']}",) if found["line"] else ()
    )
    if NO_INTERPRETER.search(found.string):
        return _without_interpreter(job, found, what, named)
    recipe = match_output(job, RECIPE)
    if recipe is not None and not named:
        named = (f"{shown_path(recipe['file'], job.facts.cwd)}:{recipe['line']}",)
    name = what.rpartition("/")[2]
    if what.endswith(".py") and "/" not in what:  # a shell looks for a bare name in PATH alone
        return _missing(job, found, f"{what} is the name of a Python file, which is no command", named, what, Fix(
            text=f"start it with Python: {_watched(job, what)}python {what}, or, with several ranks, "
            f"torchrun --nproc-per-node 2 {what}",
            commands=(f"ls -l {what}",),
        ))  # fmt: skip
    if "/" not in what and job.facts.command[:1] == (what,) and Path(job.facts.cwd, what).is_dir():
        return _missing(job, found, f"{what} is a folder, which is no command", named, what, Fix(
            text=f"name the program in it: ups-doctor run -- python {what}/train.py, say, or python -m {what} for a "
            "package with a __main__.py",
            commands=(f"ls {what}",),
        ))  # fmt: skip
    instead = INSTEAD.get(name, f"the full path of {name}")
    return _missing(job, found, f"The command {what} does not exist in the environment of this job", named, what, Fix(
        text=f"activate the environment that has {name}, install it there, or call it as {instead}",
        commands=(f"command -v {name}", f"{INSTEAD[name]} --help" if name in INSTEAD else f"which -a {name}"),
    ))  # fmt: skip


def _watched(job: Job, what: str) -> str:
    """Returns what stands before the command where the doctor itself was given the name."""
    return "ups-doctor run -- " if job.facts.command[:1] == (what,) else ""


def _without_interpreter(job: Job, found: re.Match[str], what: str, named: tuple[str, ...]) -> Match:
    shown = shown_path(what.removeprefix("./"), job.facts.cwd)
    first = job.sources.file(shown).lines[:1]
    title = f"{shown} cannot be executed: the interpreter that its first line names does not exist here"
    return _missing(job, found, title, (*((f"{shown}:1",) if first else ()), *named), what, Fix(
        text="correct the first line, as in `#!/usr/bin/env python3`, or start it as `python " + shown + "`",
        commands=(f"head -1 {shown}", "command -v python3"),
    ))  # fmt: skip


def _module(job: Job) -> Match | None:
    found = match_output(job, MODULE)
    # A traceback's ModuleNotFoundError in the program itself is an import that failed, not a launcher.
    if found is None or re.match(r"\w*Error: No module", found.string) or "__main__" in found.string:
        return None
    what = found["what"] or found["run"]
    return _missing(job, found, f"This Python has no module {what} to launch the job with", (), what, Fix(
        text=f"install {what.partition('.')[0]} for this Python, or start the job with the Python that has it",
        commands=(f"python -c 'import {what.partition('.')[0]} as m; print(m.__version__, m.__file__)'",),
    ))  # fmt: skip


def _script(job: Job) -> Match | None:
    found = match_output(job, SCRIPT)
    if found is None:
        return None
    file = found["what"] or found["run"]
    shown = shown_path(file, job.facts.cwd)
    return _missing(job, found, f"The program to run, {shown}, does not exist", (), shown.rpartition("/")[2], Fix(
        text=f"correct the path {shown}; it is looked up from {job.facts.cwd}",
        commands=(f"ls -l {shown.rpartition('/')[0] or '.'}",),
    ))  # fmt: skip


def _started_by_python(job: Job) -> Match | None:
    for one in match_text(job, LAUNCHING):
        what = one.found["what"] or _replaced_by(job, one)
        if PROGRAMS.match(what) and one.origin is not None:
            fix = Fix(text=f"start it as [sys.executable, '-m', ...], which needs no {what} on PATH")
            return _missing(
                job, one.found, f"The command {what} does not exist where a Python script starts it",
                one.locations(job), what, fix,
            )  # fmt: skip
    return None


def _replaced_by(job: Job, one: TextMatch) -> str:
    """Returns the program of `os.execvp("torchrun", ...)`, whose error names none; "" where it is no such call."""
    frame = one.origin.frame if one.origin is not None else None
    statement = job.sources.file(frame.file).statement_at(frame.line) if frame is not None else None
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and called_name(node).startswith(("exec", "spawn", "posix_spawn")):
            words = [value.value for value in node.args if isinstance(value, ast.Constant)]
            return next((word for word in words if isinstance(word, str)), "")
    return ""


def _missing(job: Job, found: re.Match[str], title: str, named: tuple[str, ...], what: str, fix: Fix) -> Match:
    word = re.compile(rf"(?<![\w-]){re.escape(what)}(?![\w-])")
    calls = tuple(line.location for line in lines_with(job, word, "shell"))
    processes = [one for one in job.processes if one.part in (ProcessRole.SHELL, ProcessRole.LAUNCHER) and one.failed]
    return blamed(
        job,
        [],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{title}: {found.string.strip()[:200]}",
        evidence=(
            Evidence(source="output of the job", observed=found.string.strip()[:300]),
            Evidence(
                source="end of the job", observed=f"exit code {job.facts.exit_code}; no rank got to work", expected="0"
            ),
        ),
        fix=fix,
        locations=distinct([*named, *calls]),
        confidence=Confidence.CONFIRMED,
        explains=[one.pid for one in (*processes, *(one for one in job.processes if one.failed))],
        began_s=min((one.end.at_s for one in processes if one.end.at_s is not None), default=0.0),
    )
