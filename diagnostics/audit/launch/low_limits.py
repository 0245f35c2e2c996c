"""A launch script lowers a limit of the system below what a training needs.

What it does: flags `ulimit -n` below 1024, `ulimit -v` and a /dev/shm made smaller than 64 MiB in scripts that train;
says where many data workers are started with no word about descriptors (an advice).

Why it matters: each rank, each data worker and each tensor between them takes descriptors: "Too many open files", or a
store that cannot be reached. CUDA reserves far more address space than it uses: under `ulimit -v` the first tensor is
refused.

Bad:

    ulimit -n 24
    torchrun --standalone --nproc-per-node 2 train.py

Good:

    ulimit -n "$(ulimit -Hn)"
    torchrun --standalone --nproc-per-node 2 train.py

What it cannot see: the limits of the machine, of the container and of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import Training, training
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A604"
NAME = "low-limits"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE})
CHECKLIST = "limits of the system are raised, not lowered"
LOW_DESCRIPTORS = 1024
LOW_SHM = 64 << 20  # what docker gives, and what is too little for data workers
MANY_WORKERS = 64
_SHM = "/dev/shm"  # noqa: S108 - a name in a script, nothing is written there
_SIZE = re.compile(r"size=(\d+)([kmg]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the limits that scripts which train set too low."""
    for script in embedded_scripts(file):
        trained = [(ran, found) for ran in script.commands if (found := training(ran, file, project)) is not None]
        if not trained:
            continue
        for ran in script.commands:
            yield from _limit(file, ran, trained)
            yield from _small_shm(file, ran, trained[0][1])
        yield from _many_workers(file, script, trained)


def _limit(
    file: ProjectFile, ran: CommandContext, trained: list[tuple[CommandContext, Training]]
) -> Iterator[Violation]:
    words = ran.words
    if words[:1] != ("ulimit",) or len(words) < 3 or not words[-1].isdigit():
        return
    value, options = int(words[-1]), "".join(words[1:-1])
    behind = next((found for one, found in trained if one.line >= ran.line), None)
    if behind is None:
        return
    if "n" in options and value < LOW_DESCRIPTORS:
        yield _hit(
            file,
            ran,
            f"ulimit -n {value} in front of '{behind.shown}': ranks and data workers need more open files",
            'ulimit -n "$(ulimit -Hn)"',
        )
    elif "v" in options:
        yield _hit(
            file,
            ran,
            f"ulimit -v {value} limits the address space of '{behind.shown}': CUDA and mapped files reserve far more "
            "of it than they use",
            "take it away; limit memory by the cgroup of the job",
        )


def _small_shm(file: ProjectFile, ran: CommandContext, found: Training) -> Iterator[Violation]:
    size = next((match for word in ran.words if (match := _SIZE.search(word))), None)
    if ran.words[:1] != ("mount",) or _SHM not in ran.words or size is None:
        return
    held = int(size[1]) * _UNITS[size[2].lower()]
    if held < LOW_SHM:
        yield _hit(
            file,
            ran,
            f"{_SHM} is made {size[0].partition('=')[2]} small for '{found.shown}': data workers hand over their "
            "batches through it, and die of SIGBUS",
            "mount it with size=8g, or start with num_workers=0",
        )


def _many_workers(
    file: ProjectFile, script: Script, trained: list[tuple[CommandContext, Training]]
) -> Iterator[Violation]:
    if any(ran.words[:1] in (("ulimit",), ("prlimit",)) for ran in script.commands) or "ulimit" in file.words:
        return
    for ran, found in trained:
        workers = _workers(found)
        ranks = found.launcher.ranks_here if found.launcher is not None else 1
        if workers and ranks and workers * ranks >= MANY_WORKERS:
            line, column = place(file, ran)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"'{found.shown}' has {ranks} x {workers} data workers, and nothing is said of open files",
                fix='ulimit -n "$(ulimit -Hn)" in front of it',
                confidence=Confidence.LIKELY if found.launcher is not None else Confidence.POSSIBLE,
                severity=Severity.INFO,
            )


def _workers(found: Training) -> int:
    words = found.layers[-1].program if found.layers else ()
    text = " ".join(words)
    named = re.search(r"--(?:(?:num|n|data|dataloader|loader)[_-](?:num[_-])?)?workers[= ](\d{1,4})(?!\S)", text)
    return int(named[1]) if named else 0


def _hit(file: ProjectFile, ran: CommandContext, title: str, fix: str) -> Violation:
    line, column = place(file, ran)
    shown = ExplanationStep(place=file.place(line), text=" ".join(ran.words)[:80])
    return Violation(file=file, line=line, column=column, title=title, fix=fix, steps=(shown,))
