"""Asks the program that made a cache to make its damaged files again: in a child, for the doctor imports no trainer."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnostics.adapter import describe
from diagnostics.cache.repair.actions import Action, FileOutcome, FilePlan, Identity, RepairStatus
from diagnostics.cache.repair.plan import RepairPlan
from diagnostics.core.errors import USAGE_EXIT, DoctorError, UsageError
from diagnostics.machine.facts import ChildTimeout, MachineError

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child

MANIFEST = "manifest.json"
DEADLINE_S = 600.0  # to say what is damaged; data and encoder are read for it
TIMES = 10  # as long as was estimated, before it counts as hung


@dataclass(frozen=True, slots=True, kw_only=True)
class Regeneration:
    """What the trainer of a CONFIG can make again. `kept` are the damaged files with the bytes of each that stay."""

    child: Child
    argv: tuple[str, ...]
    folder: str
    kept: Mapping[str, int]
    samples: int
    seconds: float
    encoder: str

    @property
    def note(self) -> str:
        """What will be done, in words for the plan."""
        files, samples = len(self.kept), self.samples
        return (
            f"{files} file{'s' * (files != 1)} of it made again: {samples} sample{'s' * (samples != 1)} encoded on the "
            f"CPU with the encoder that it names ({self.encoder[:12]}), about {max(self.seconds, 0.1):.1f} s"
        )

    def added_to(self, plan: RepairPlan) -> RepairPlan:
        """Returns the plan with the damaged files made again: those that keep samples are not moved away first.

        Raises UsageError where the cache of CONFIG is not among what was named.
        """
        if not any(f"{self.folder}/".startswith(f"{os.path.realpath(root)}/") for root in plan.roots.paths):
            raise UsageError(
                f"the cache of that configuration is {self.folder}, which was not named",
                hint=f"ups-doctor fix-cache {shlex.quote(self.folder)} --regenerate CONFIG",
            )
        if not self.kept:
            return plan
        manifest = os.path.join(self.folder, MANIFEST)  # noqa: PTH118 - strings throughout
        stay = {os.path.join(self.folder, name) for name, kept in self.kept.items() if kept}  # noqa: PTH118 - as above
        others = [
            file
            for file in plan.files
            if file.real != manifest and not (file.real in stay and file.action in (Action.QUARANTINE, Action.LEAVE))
        ]
        shown = next((file.path for file in plan.files if file.real == manifest), manifest)
        remade = FilePlan(
            path=shown,
            real=manifest,
            action=Action.REGENERATE,
            identity=Identity.of(os.stat(manifest)),  # noqa: PTH116 - strings throughout
            problems=("manifest-mismatch",),
            why="files that it names are damaged",
            note=self.note,
        )
        return replace(plan, files=(*others, remade))

    def carry_out(self, plan: FilePlan) -> FileOutcome:
        """Returns what became of it; never raises for the child."""
        began = time.monotonic()
        status, text = RepairStatus.DONE, ""
        try:
            _answer([*self.argv, "--apply"], self.child, DEADLINE_S + TIMES * self.seconds)
        except DoctorError as error:
            status, text = RepairStatus.FAILED, f"{error.message} ({error.hint})" if error.hint else error.message
        return FileOutcome(plan=plan, status=status, text=text, seconds=time.monotonic() - began)


def ask(config: Path, overrides: Sequence[str], *, python: str, child: Child) -> Regeneration:
    """Returns what the trainer that understands CONFIG can make again; nothing is changed.

    Raises UsageError where no trainer accepts CONFIG, DoctorError where its cache is another encoder's.
    """
    module = describe.describe(config, overrides, python=python, child=child).module
    sets = [word for override in overrides for word in ("--set", override)]
    argv = (python, "-m", module, "regenerate", str(config.absolute()), *sets)
    said = _answer(argv, child, DEADLINE_S)
    try:
        return Regeneration(
            child=child,
            argv=argv,
            folder=os.path.realpath(said["cache"]),
            kept={str(name): int(kept) for name, kept in said["files"].items()},
            samples=int(said["samples"]),
            seconds=float(said["seconds"]),
            encoder=str(said["encoder"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DoctorError(f"{module} gave no answer that is understood here: {error}") from error


def _answer(argv: Sequence[str], child: Child, deadline_s: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="ups-doctor-") as folder:
        result = Path(folder) / "answer.json"
        try:
            ended = child.run([*argv, "--result", str(result)], deadline_s=deadline_s)
        except (MachineError, ChildTimeout) as error:
            raise DoctorError(f"the samples cannot be made again: {error}") from error
        if ended.returncode:
            message, _, hint = (ended.stderr.strip() or f"it ended with exit code {ended.returncode}").partition("\n")
            kind = UsageError if ended.returncode == USAGE_EXIT else DoctorError
            raise kind(
                f"the samples cannot be made again: {message}",
                hint="\n".join(line.strip() for line in hint.splitlines()) or f"see it all: {shlex.join(argv)}",
            )
        try:
            said = json.loads(result.read_bytes())
        except (OSError, ValueError) as error:
            raise DoctorError(f"the samples cannot be made again: no answer came: {error}") from error
    if not isinstance(said, dict):
        raise DoctorError("the samples cannot be made again: the answer is no JSON object")
    return said
