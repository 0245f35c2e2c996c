"""`$?` is read behind a command that `set -e` ends the script with: what follows a failure is never reached.

What it does: flags `torchrun ...` and then `code=$?` or a test of `$?` under `set -e`, where a failure is to be
answered with more than words: by another attempt, a message that is sent, files that are kept, the next of several
runs. Seen through functions of the script, and in the steps of a workflow, which GitHub runs with `bash -e`.

Why it matters: with `set -e` the shell ends at the first command that fails, and `$?` is read only where it is 0. No
restart, no clean-up and no report comes when one is needed, and the runs that were to follow do not start.

Bad:

    set -e
    torchrun train.py
    code=$?
    if [ $code -ne 0 ]; then sbatch resume.sbatch; fi

Good:

    set -e
    code=0
    torchrun train.py || code=$?
    if [ $code -ne 0 ]; then sbatch resume.sbatch; fi

What it cannot see: what a function that is handed the code does with it, `case`, and options that a caller sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.failing.answers_to_failure import answer_to, status_read_behind
from diagnostics.static.launch_files.failing.function_calls import as_called, ends_shell_at_once
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.launcher_commands import base, launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A533"
NAME = "status-read-after-exit"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "with set -e, the code of a program is kept by ||"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the places where a code is read that can only be 0."""
    for script in embedded_scripts(file):
        seen: set[int] = set()
        for ran in script.commands:
            shown = _shown(ran, file, project)
            for one in as_called(ran, script.commands) if shown else ():
                read = status_read_behind(one)
                if read is None or read.line in seen or not ends_shell_at_once(one, script.commands):
                    continue
                lost = answer_to(read)
                if lost is None:
                    continue
                seen.add(read.line)
                row = file.line(read.line)
                yield Violation(
                    file=file,
                    line=read.line,
                    column=len(row) - len(row.lstrip()) + 1,
                    title=f"'$?' is read here only where it is 0: with 'set -e', a failed '{shown}' has ended the "
                    f"script before, and {lost.what} never comes",
                    fix=f"code=0; {base(one.words[0])} ... || code=$?",
                    steps=(
                        ExplanationStep(place=file.place(place(file, one)[0]), text="fails, and 'set -e' holds here"),
                        ExplanationStep(place=file.place(lost.line), text="is meant for a failure"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _shown(ran: CommandContext, file: ProjectFile, project: Project) -> str:
    """Returns how to name a command that runs a program: a training, or another one that a launcher starts."""
    found = training(ran, file, project)
    if found is not None:
        return found.shown
    layers = launcher_calls(ran.words)
    script = layers[-1].script if layers else ""
    return f"{base(ran.words[layers[-1].at])} {script}".strip() if script else ""
