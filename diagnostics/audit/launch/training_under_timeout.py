"""A training runs under `timeout`, which kills it.

What it does: flags `timeout 600 python train.py` in launch scripts.

Why it matters: the training ends with code 124 in the middle of a step, with no checkpoint, however well it went.

Bad:

    timeout 8 python train.py --epochs 100000

Good:

    timeout --signal=USR1 --kill-after=120 12h python train.py    # which writes a checkpoint on SIGUSR1

What it cannot see: how long the training takes. So it is only possible, but where seconds are given to thousands of
epochs or steps; smoke tests of a few steps are meant so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.launcher_commands import base
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A612"
NAME = "training-under-timeout"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE})
WORDS = ("timeout",)
SHORT_S = 120
MANY = 1000
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LONG = re.compile(
    r"--?(?:num[_-]|max[_-])?(?:train[_-])?(?:epochs?|steps|iters?|iterations|updates?)[= ](\d{1,9})(?!\S)"
)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trainings that a timeout ends."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            at = next((index for index, word in enumerate(ran.words) if base(word) == "timeout"), None)
            found = training(ran, file, project) if at is not None and at < 4 else None
            if (
                at is None
                or found is None
                or any(word.startswith(("-s", "--signal", "-k", "--kill")) for word in ran.words)
            ):
                continue
            limit = next((match for word in ran.words[at + 1 :] if (match := _DURATION.fullmatch(word))), None)
            if limit is None:
                continue
            seconds = float(limit[1]) * _UNITS[limit[2]]
            asked = [int(match[1]) for match in _LONG.finditer(" ".join(ran.words))]
            hopeless = seconds <= SHORT_S and max(asked, default=0) >= MANY
            line, column = place(file, ran, at)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"timeout kills '{found.shown}' after {limit[0]}{'' if limit[2] else ' s'}, however well it goes"
                + (f": it is to do {max(asked)} epochs or steps" if hopeless else ""),
                fix="timeout --signal=USR1 --kill-after=120, and a checkpoint on that signal; or the time limit of the "
                "scheduler",
                confidence=Confidence.LIKELY if hopeless else Confidence.POSSIBLE,
            )
