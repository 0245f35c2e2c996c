"""The line of a shell script that took the failure of a command for success. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from diagnostics.dynamic.job.evidence import program
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.launch.launch_settings import LAUNCHERS, ScriptLine, settings_in_scripts

_SWALLOWED = re.compile(r"\|\|\s*(?:true|:|echo|exit\s+0|printf|/bin/true)|\|\s*(?!\|)|;\s*(?:true|exit\s+0)|&\s*$")
_WAIT = re.compile(r"^\s*wait\s*(?:;|$)")
_EXIT_0 = re.compile(r"(?:^|;|\|\||\{|['\"])\s*+(?:exit\s+0|true|:)\s*+(?:;?\s*+\}|['\"]\s+(?:0|EXIT|ERR)\b.*)?\s*+$")


def masking_script_lines(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the lines of shell scripts that hid the failure of `process`, best first; () where there is no script.

    The line that runs it with `|| true` or into a pipe, `wait` for what ran in the background, `exit 0` behind it,
    else the line that runs it.
    """
    if not _below_a_shell(job, process):
        return ()
    lines = [line for line in settings_in_scripts(job) if line.language == "shell"]
    running = [line for line in lines if _runs(job, process, line)]
    if not running:
        return ()
    files = {line.location.rpartition(":")[0] for line in running}
    behind = [line for line in lines if line.location.rpartition(":")[0] in files]
    logical = {line.location: _whole(line, behind) for line in running}
    swallowing = [line for line in running if _SWALLOWED.search(logical[line.location])]
    background = any(logical[line.location].rstrip().endswith("&") for line in running)
    waits = [line.location for line in behind if background and _WAIT.search(line.text)]
    ends = [line.location for line in behind if _EXIT_0.search(line.text) and line not in running]
    found = [*waits, *(line.location for line in swallowing), *ends, *(line.location for line in running)]
    return tuple(dict.fromkeys(found))


def _whole(first: ScriptLine, lines: list[ScriptLine]) -> str:
    """Returns a command with the lines that its backslashes continue it on."""
    text, at = first.text, lines.index(first)
    while text.rstrip().endswith("\\") and at + 1 < len(lines):
        at += 1
        text = text.rstrip()[:-1] + " " + lines[at].text
    return text


def _below_a_shell(job: Job, process: JobProcess) -> bool:
    above = job.of_pid(process.parent_pid)
    for _ in range(len(job.processes)):
        if above is None:
            return False
        if above.part is ProcessRole.SHELL:
            return True
        above = job.of_pid(above.parent_pid)
    return False


def _runs(job: Job, process: JobProcess, line: ScriptLine) -> bool:
    """Whether a line names the program that failed, or the launcher of it."""
    names = {program(process)} | {PurePosixPath(word).name for word in process.argv if word.endswith(".py")}
    names |= {process.argv[index + 1] for index, word in enumerate(process.argv[:-1]) if word == "-m"}
    if any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", line.text) for name in names if name):
        return True
    return bool(LAUNCHERS.search(line.text)) and process.part is ProcessRole.LAUNCHER
