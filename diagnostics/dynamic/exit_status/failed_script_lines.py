"""The line of a script at which a job of shells failed: by the shell's own words, else by its text. Pure.

Shells and make say where they are: "run.sh: line 2: cd: /data: No such file or directory", "run.sh: 2: cd: can't cd to
/data" (dash), "make: *** [Makefile:12: train] Error 1". A program that fails under `set -e`, or as the last one, says
nothing of that kind: its command line is looked for in the script, or its name, with which tools begin what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from diagnostics.core.frames import shown_path
from diagnostics.core.wording import last_line
from diagnostics.dynamic.exit_status.shell_scripts import command_of, script_of
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole

_SAID = re.compile(
    r"^(?P<script>[^\s:][^:]{0,200}): (?:line )?(?P<line>\d{1,6}): \S"
    r"|^\S{0,200}make(?:\[\d+\])?: \*\*\* \[(?P<makefile>[^\]:]{1,200}):(?P<at>\d{1,6}): "
)
_PROGRAM = re.compile(r"(?:\S{0,200}/)?([\w.+-]{1,80}): \S")
_LAST_LINES = 20  # of the output: what a shell said long before is not why it ended


def failed_script_lines(job: Job) -> tuple[str, ...]:
    """Returns the places at which the shells of a failed job were, the innermost first; () where nothing tells."""
    shells = [one for one in job.processes if one.part is ProcessRole.SHELL and one.failed]
    if not shells:
        return ()
    return tuple(dict.fromkeys([*_said(job, shells), *_run(job, shells), *_named(job, shells)]))


def _said(job: Job, shells: list[JobProcess]) -> Iterator[str]:
    ran = {PurePosixPath(word).name for shell in shells for word in shell.argv[1:]}
    for text in reversed(job.output.splitlines()[-_LAST_LINES:]):
        found = _SAID.match(text)
        if found is None:
            continue
        file, line = found["script"] or found["makefile"], int(found["line"] or found["at"])
        path = str(PurePosixPath(job.facts.cwd or ".") / file)
        # Compilers write FILE:LINE, too: what is meant is the file that a shell of the job ran, or make's.
        is_script = found["makefile"] is not None or PurePosixPath(file).name in ran
        last = max((at for at, one in enumerate(job.sources.file(path).lines, 1) if one.strip()), default=0)
        if is_script and last:  # an end that comes too soon is said to stand behind the last line
            yield f"{shown_path(path, job.facts.cwd)}:{min(line, last)}"


def _run(job: Job, shells: list[JobProcess]) -> Iterator[str]:
    for shell in reversed(shells):
        script = script_of(job, shell)
        if script is None or not script.file:
            continue
        below = [one for one in job.processes if one.parent_pid == shell.pid and one.failed]
        last = max(below, key=ended_s, default=None)
        if last is None or last.end.exit_code != shell.end.exit_code:
            continue
        lines = {ran.line for ran in command_of(script, last)}
        if len(lines) == 1:
            yield f"{script.file}:{lines.pop()}"


def _named(job: Job, shells: list[JobProcess]) -> Iterator[str]:
    """A program that was over before it was seen: "cp: cannot stat 'a': No such file", where one line calls cp."""
    name = _PROGRAM.match(last_line(job.output))
    for shell in reversed(shells) if name is not None else ():
        script = script_of(job, shell)
        if name is None or script is None or not script.file:
            continue
        lines = {ran.line for ran in script.commands if ran.words and PurePosixPath(ran.words[0]).name == name[1]}
        if len(lines) == 1:
            yield f"{script.file}:{lines.pop()}"
