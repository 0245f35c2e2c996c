"""A training writes into a pipe whose exit code is that of its last command.

What it does: flags `torchrun ... | tee log` and the like where no `pipefail` is set and nobody reads PIPESTATUS: in
shell scripts, workflows, container commands and Dockerfiles; also of a call of a function that ends with a training.

Why it matters: a pipeline ends with the code of its last command, and `tee` always succeeds. With `set -e`, too, the
script goes on as if the training had finished.

Bad:

    set -e
    torchrun --standalone --nproc-per-node 2 train.py 2>&1 | tee train.log

Good:

    set -eo pipefail
    torchrun --standalone --nproc-per-node 2 train.py 2>&1 | tee train.log

What it cannot see: options that a caller or an outer shell sets, and what SHELLOPTS brings in.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import levels, place, tokens_of
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.failing.function_calls import as_called
from diagnostics.static.launch_files.launched_program import Training, training
from diagnostics.static.launch_files.launcher_commands import base
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import Simple
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A512"
NAME = "pipe-without-pipefail"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "pipes in launch scripts keep the code of the training"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the pipelines that lose the exit code of a training."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            found = training(ran, file, project)
            if found is None or _is_set_by_sourced(script, project):
                continue
            for one in as_called(ran, script.commands):
                if (lost := _lost(one)) is not None:
                    yield _hit(file, script, one, found, lost)


def _lost(ran: CommandContext) -> Simple | None:
    """Returns the last command of the pipeline that drops the code of `ran`, None where it is kept."""
    one: CommandContext | None = ran
    while one is not None:
        last = one.pipeline.commands[-1]
        if last is not one.command and isinstance(last, Simple) and last.words and not _is_kept(one):
            return last
        one = one.outer
    return None


def _is_kept(ran: CommandContext) -> bool:
    if "pipefail" in ran.options or ran.words[:1] == ("mispipe",):
        return True
    # `$?` would be the code of tee.
    return any(
        "pipestatus" in token.text.lower()
        for statement, _, after in levels(ran)
        for one in (statement, *after)
        for token in tokens_of(one)
    )


def _hit(file: ProjectFile, script: Script, ran: CommandContext, found: Training, last: Simple) -> Violation:
    line, column = place(file, ran)
    end = " ".join(word.text for word in last.words)
    end = end if len(end) <= 40 else end[:37] + "..."
    sourced = next((one for one in script.commands if _may_set_options(one)), None)
    fix = "set -o pipefail at the top of the script"
    if script.shell in ("sh", "dash") and script.home in ("file", "dockerfile"):
        fix = "let bash run it, with set -o pipefail: sh has none everywhere"
    if script.home == "github":
        fix = "shell: bash at the step: GitHub then runs it with pipefail"
    if script.home == "makefile":
        fix = "SHELL := /bin/bash and .SHELLFLAGS := -o pipefail -c at the top of the Makefile"
    if script.home == "dockerfile":
        fix = 'SHELL ["/bin/bash", "-o", "pipefail", "-c"] above it'
    return Violation(
        file=file,
        line=line,
        column=column,
        title=f"'{found.shown} | {end}' ends with the code of {base(last.words[0].text)}, not with the training's",
        fix=fix,
        steps=(ExplanationStep(place=file.place(line), text="no pipefail is set here, and PIPESTATUS is not read"),),
        confidence=Confidence.LIKELY if sourced is not None else Confidence.CONFIRMED,
    )


def _is_set_by_sourced(script: Script, project: Project) -> bool:
    """Whether a file of the project that the script sources sets pipefail, wherever it is sourced from."""
    names = [one.words[1] for one in script.commands if _may_set_options(one)]
    return any(
        "pipefail" in one.text and any(f"/{one.shown}".endswith("/" + name.lstrip("./")) for name in names)
        for one in (project.audited if names else ())
    )


def _may_set_options(ran: CommandContext) -> bool:
    """Whether a file is sourced that may set pipefail: those of environments do not."""
    if ran.words[:1] not in (("source",), (".",)) or len(ran.words) < 2:
        return False
    return not any(word in ran.words[1] for word in ("activate", "conda", "venv", "bashrc", "profile", "modules"))
