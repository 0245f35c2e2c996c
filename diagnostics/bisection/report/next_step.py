"""What to do with what a bisection found. Pure."""

from __future__ import annotations

from pathlib import Path

from diagnostics.bisection.found import Bisection, SettingStatus
from diagnostics.bisection.report.words import path_in_words
from diagnostics.core.shell_quoting import pasteable


def next_step(found: Bisection) -> tuple[str, list[str]]:
    """Returns a sentence and the commands that go with it."""
    if found.undecided and not found.modules and not found.outside:
        return "go on where it stopped; what was tried is not tried again.", [found.resume] if found.resume else []
    if found.failure is None:
        return (
            "run the real training under watch; what fails only there lies in its loss, later batches, or around it.",
            [f"ups-doctor run -- {found.training or 'YOUR TRAINING COMMAND'}"],
        )
    if found.outside:
        return "look at the line named above; the model is not the cause, so shrinking it would not help.", []
    if not found.modules:
        return "look at the evidence below.", []
    healing = [f"{row.axis} {row.other}" for row in found.axes if row.standing is SettingStatus.HEALS]
    until = f" Until it is fixed, {' or '.join(healing)} avoids it." if healing else ""
    lines = [place.rpartition(" < ")[2].split(" ")[0] for place in found.failure.places]
    own = [line for line in lines if line.rpartition(":")[2].isdigit()]
    where = (own or [found.module_place])[0] or path_in_words(found.modules[0])
    if found.repro:
        return f"fix {where}, with the script that shows it.{until}", [
            f"python {pasteable(Path(found.folder) / found.repro)}"
        ]
    return f"look at {where}.{until}", []
