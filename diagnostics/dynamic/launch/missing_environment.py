"""Environment variables that a rank read and did not have, and the lines of scripts that may have lost them. Pure."""

from __future__ import annotations

import re

from diagnostics.dynamic.failures.error_texts import TextMatch, match_output, match_text
from diagnostics.dynamic.job.job import Job, ProcessRole
from diagnostics.dynamic.launch.init_progress import anything_started
from diagnostics.dynamic.launch.launch_settings import LAUNCHERS, ScriptLine, lines_with, settings_in_scripts

MISSING = re.compile(
    r"environment variable (?P<torch>[A-Z_]\w*) expected, but not set|^KeyError: '(?P<key>[A-Za-z_]\w*)'$"
    r"|(?P<none>^TypeError: int\(\) argument must be .*NoneType|^TypeError: .*'?NoneType'?"
    r"|^ValueError: invalid literal for int\(\) with base 10: '')"
)
READS = re.compile(r"(?:environ(?:\.get)?\s*[\[(]|getenv\s*\()\s*f?['\"]([A-Za-z_]\w*)['\"]")
DROPS = re.compile(
    r"\b(?:ssh|sudo|su|pdsh|parallel-ssh|docker\s+(?:run|exec)|podman\s+run|singularity\s+exec|apptainer\s+exec)\b"
    r"|\benv\s+(?:-\w*\s+)*(?:-i|--ignore-environment|-u\b)|(?:^|\s)env\s+-\s|--export[= ](?!ALL)|\bunset\s"
    r"|\bexec\s+-c\b"
)
PYTHON_DROPS = re.compile(
    r"\benv\s*=\s*(?!os\.environ\b|None\b|\{\s*\*\*)|environ\.(?:clear|pop)\(|del\s+os\.environ\b|unsetenv\("
)
OF_LAUNCHERS = {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK"}


def missing_variables(job: Job) -> tuple[tuple[TextMatch, str], ...]:
    """Returns who failed since a variable was missing, and its name."""
    return tuple((one, name) for one in match_text(job, MISSING) if (name := _name(job, one))) or _by_output(job)


def _by_output(job: Job) -> tuple[tuple[TextMatch, str], ...]:
    """Where all variables were dropped, the agent's are gone too: only the job's output tells."""
    found = match_output(job, MISSING)
    name = (found["torch"] or found["key"] or "") if found is not None else ""
    failed = [one for one in job.processes if one.failed and one.part is not ProcessRole.SHELL]
    if found is None or not failed or anything_started(job) or not (found["torch"] or name in OF_LAUNCHERS):
        return ()
    return ((TextMatch(process=failed[-1], found=found, origin=None, line=found.string.strip()), name),)


def started_without_launcher(job: Job) -> bool:
    """Whether what is missing is what launchers give, there is none, and nothing dropped it on its way."""
    names = [name for _, name in missing_variables(job)]
    launched = any(one.part is ProcessRole.LAUNCHER for one in job.processes) or bool(
        LAUNCHERS.search(" ".join(job.facts.command))
    )
    return (
        bool(names)
        and names[0] in OF_LAUNCHERS
        and not launched
        and not dropping_lines(job)
        and not unexported_lines(job, names[0])
    )


def dropping_lines(job: Job) -> list[ScriptLine]:
    """Returns the lines that start programs with another environment, those that start ranks first."""
    found = [*lines_with(job, DROPS, "shell"), *lines_with(job, PYTHON_DROPS, "python")]
    starts = [line for line in found if LAUNCHERS.search(line.text) or "python" in line.text or "env" in line.text]
    return starts or found


def unexported_lines(job: Job, name: str) -> list[ScriptLine]:
    """Returns lines `NAME=value` of a script that never exports it; `NAME=value command` does reach that command."""
    lines = [line for line in settings_in_scripts(job) if line.language == "shell"]
    exported = re.compile(
        rf"\b(?:export|declare\s+-x|typeset\s+-x)\b[^#]*\b{name}\b|^\s*set\s+(?:-\w*a"
        rf"|-o\s+allexport)"
    )
    if any(exported.search(line.text) for line in lines):
        return []
    sets = re.compile(rf"^\s*(?:local\s+)?{name}=(?:\"[^\"]*\"|'[^']*'|\$\([^)]*\)|\S)*\s*(?:[;#&].*)?$")
    return [line for line in lines if sets.match(line.text)]


def _name(job: Job, one: TextMatch) -> str:
    """Returns the variable that was missing, "" where a KeyError is about something else."""
    if one.found["torch"]:
        return one.found["torch"]
    frame = one.origin.frame if one.origin is not None else None
    if frame is None or one.origin is None:
        return ""
    lines = job.sources.file(frame.file).lines
    text = " ".join(lines[max(0, frame.line - 1) : frame.line + 2])
    read = READS.search(text)
    if one.found["none"]:
        return read[1] if read else ""
    in_os = any(re.search(r"(?:/os\.py|<frozen os>)$", inner.file) for inner in one.origin.path[:2])
    return one.found["key"] if in_os or "environ" in text else ""
