"""A script trains on what jobs in the background have prepared, and asks none of them how it ended.

What it does: flags a bare `wait` for Python programs in the background that prepare something, where a training comes
behind it and nothing in between looks at what they left.

Why it matters: `wait` without a job returns 0 whatever became of them, also under `set -e`. One of the parts died, and
the training goes on with the features, shards or tokens that happen to be there.

Bad:

    for part in 0 1 2 3; do
        python make_features.py --part $part &
    done
    wait
    python train.py

Good:

    pids=()
    for part in 0 1 2 3; do
        python make_features.py --part $part & pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done     # under set -e
    python train.py

What it cannot see: programs of a language other than Python, and a training that counts what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import levels, place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A520"
NAME = "wait-forgets-failure"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "scripts ask each job in the background how it ended"
_SERVES = re.compile(r"serve|tensorboard|monitor|watch|proxy|ray$|jupyter|gpustat", re.IGNORECASE)
_LOOKS = frozenset(["exit", "grep", "wc", "cmp", "diff", "die"])  # what looks at what there is, or gives up


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the waits that let a failure pass."""
    for script in embedded_scripts(file):
        commands = script.commands
        for at, one in enumerate(commands):
            if one.words != ("wait",) or _is_read(one):
                continue
            started = next((each for each in reversed(commands[:at]) if _prepares(each, file, project)), None)
            later = next(((n, found) for n, each in enumerate(commands[at + 1 :], at + 1)
                          if (found := training(each, file, project)) is not None), None)  # fmt: skip
            if started is None or later is None or _is_looked_at(commands[at + 1 : later[0]]):
                continue
            line, column = place(file, one)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"'wait' without a job ends with 0 whatever became of '{_shown(started)}' in the background: "
                f"'{later[1].shown}' goes on with what happens to be there",
                fix='pids+=($!) behind each start, then: for pid in "${pids[@]}"; do wait "$pid" || exit 1; done',
                steps=(
                    ExplanationStep(place=file.place(place(file, started)[0]), text="started in the background"),
                    ExplanationStep(place=file.place(place(file, commands[later[0]])[0]), text="trains on it"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


def _prepares(ran: CommandContext, file: ProjectFile, project: Project) -> bool:
    """Whether a command runs a Python program in the background that is no training and no service."""
    if not any(statement.background for statement, _, _ in levels(ran)) or ran.outer is not None:
        return False
    calls = launcher_calls(ran.words)
    if not calls or training(ran, file, project) is not None or ran.words[:1] in (("nohup",), ("setsid",)):
        return False
    return bool(calls[-1].script) and not _SERVES.search(" ".join(ran.words[:3]))


def _shown(ran: CommandContext) -> str:
    return f"{ran.words[0]} {launcher_calls(ran.words)[-1].script}"


def _is_read(wait: CommandContext) -> bool:
    """Whether a wait stands in a test or a list."""
    return wait.tested or any("||" in statement.operators for statement, _, _ in levels(wait))


def _is_looked_at(between: Sequence[CommandContext]) -> bool:
    """Whether commands between the wait and the training look for files, or give up under some condition."""
    for one in between:
        if one.words[:1] and one.words[0] in _LOOKS:
            return True
        if one.words[:1] in (("[",), ("[[",), ("test",)) and {"-f", "-e", "-s", "-d"} & set(one.words):
            return True
    return False
