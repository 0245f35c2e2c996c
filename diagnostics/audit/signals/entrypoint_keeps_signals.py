"""The first process of a container is a shell script that keeps the signal from the training.

What it does: flags a script that a Dockerfile names as its ENTRYPOINT or CMD, and that runs its training neither by
`exec` nor with a trap for SIGTERM, where the program answers SIGTERM.

Why it matters: a container that is to go gets SIGTERM in its first process. A shell waits for its child and passes
nothing on: the training goes on unaware, saves nothing, and is killed when the grace period ends, at each preemption.

Bad:

    python train.py "$@"

Good:

    exec python train.py "$@"

What it cannot see: entrypoints that only a pod or a compose file names, and programs that answer SIGTERM in a library.
`dumb-init` and `tini -g` pass signals on to all processes: nothing is said where they come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.audit.signals.batch_signal import handled, traps
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files import dockerfile
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A625"
NAME = "entrypoint-keeps-signals"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
CHECKLIST = "the first process of a container passes signals on"
_TO_ALL = frozenset(["dumb-init", "catatonit", "s6-svscan"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trainings that are the children of a container's first process."""
    named = _entry(file, project)
    if named is None:
        return
    for script in embedded_scripts(file):
        if any(traps(one, signal) for one in script.commands for signal in ("TERM", "EXIT")):
            continue
        for ran in script.commands:
            found = training(ran, file, project)
            if found is None or found.program is None or ran.words[0] == "exec" or ran.outer is not None:
                continue
            answer = handled("TERM", found.program, project)
            if answer is None:
                continue
            line, column = place(file, ran)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"this shell is the container's first process, gets SIGTERM and passes it on to nobody: "
                f"'{found.shown}', which has a handler, is killed without it",
                fix=f"exec {ran.words[0]} ...",
                steps=(
                    ExplanationStep(place=named[0].place(named[1]), text="the first process of the container"),
                    ExplanationStep(place=answer[0].place(answer[1]), text="the program would answer SIGTERM"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


def _entry(file: ProjectFile, project: Project) -> tuple[ProjectFile, int] | None:
    """Returns the Dockerfile, and its line, that starts a container with this script."""
    name = PurePosixPath(file.shown).name
    for one in project.audited:
        if one.kind is not FileKind.DOCKERFILE:
            continue
        entry: tuple[str, ...] = ()
        for instruction in dockerfile.instructions(one.text):
            if instruction.name not in ("ENTRYPOINT", "CMD"):
                continue
            words = (*entry, *instruction.words)
            if instruction.name == "ENTRYPOINT":
                entry = words = instruction.words
            starts = PurePosixPath(words[0]).name if words else ""
            passes = starts in _TO_ALL or (starts == "tini" and "-g" in words)
            if not passes and any(PurePosixPath(word).name == name for word in words[:4]):
                return one, instruction.line
    return None
