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
class DamagedCache:
    """One cache of a CONFIG. `kept` are the damaged files with the bytes of each that stay."""

    folder: str
    kept: Mapping[str, int]
    samples: int
    seconds: float
    encoder: str

    @property
    def manifest(self) -> str:
        """The path of its manifest."""
        return os.path.join(self.folder, MANIFEST)  # noqa: PTH118 - strings throughout

    @property
    def note(self) -> str:
        """What will be done, in words for the plan."""
        files, samples = len(self.kept), self.samples
        return (
            f"{files} file{'s' * (files != 1)} of it made again: {samples} sample{'s' * (samples != 1)} encoded on the "
            f"CPU with the encoder that it names ({self.encoder[:12]}), about {max(self.seconds, 0.1):.1f} s"
        )

    def is_below(self, roots: Sequence[str]) -> bool:
        """Whether one of the paths holds it."""
        return any(f"{self.folder}/".startswith(f"{os.path.realpath(root)}/") for root in roots)

    def added_to(self, plan: RepairPlan) -> RepairPlan:
        """Returns the plan with the damaged files made again: those that keep samples are not moved away first."""
        if not self.kept:
            return plan
        stay = {os.path.join(self.folder, name) for name, kept in self.kept.items() if kept}  # noqa: PTH118 - as above
        others = [
            file
            for file in plan.files
            if file.real != self.manifest
            and not (file.real in stay and file.action in (Action.QUARANTINE, Action.LEAVE))
        ]
        shown = next((file.path for file in plan.files if file.real == self.manifest), self.manifest)
        remade = FilePlan(
            path=shown,
            real=self.manifest,
            action=Action.REGENERATE,
            identity=Identity.of(os.stat(self.manifest)),  # noqa: PTH116 - strings throughout
            problems=("manifest-mismatch",),
            why="files that it names are damaged",
            note=self.note,
        )
        return replace(plan, files=(*others, remade))


@dataclass(frozen=True, slots=True, kw_only=True)
class Regeneration:
    """What the trainer of a CONFIG can make again: its caches, one a problem that it is trained on."""

    child: Child
    argv: tuple[str, ...]
    caches: tuple[DamagedCache, ...]

    @property
    def seconds(self) -> float:
        """How long all of it takes."""
        return sum(one.seconds for one in self.caches)

    def added_to(self, plan: RepairPlan) -> RepairPlan:
        """Returns the plan with the damaged files of the named caches made again.

        Raises UsageError where no cache of CONFIG is among what was named.
        """
        named = [one for one in self.caches if one.is_below(plan.roots.paths)]
        if not named:
            folders = [one.folder for one in self.caches]
            raise UsageError(
                f"the cache of that configuration is {', '.join(folders)}, which was not named",
                hint=f"ups-doctor fix-cache {shlex.join(folders)} --regenerate CONFIG",
            )
        for one in named:
            plan = one.added_to(plan)
        return plan

    def carry_out(self, plan: FilePlan) -> FileOutcome:
        """Returns what became of the cache of one manifest; never raises for the child."""
        began = time.monotonic()
        status, text = RepairStatus.DONE, ""
        cache = next(one for one in self.caches if one.manifest == plan.real)
        which = ["--cache", cache.folder] if len(self.caches) > 1 else []
        try:
            _answer([*self.argv, "--apply", *which], self.child, DEADLINE_S + TIMES * cache.seconds)
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
        caches = tuple(
            DamagedCache(
                folder=os.path.realpath(one["cache"]),
                kept={str(name): int(kept) for name, kept in one["files"].items()},
                samples=int(one["samples"]),
                seconds=float(one["seconds"]),
                encoder=str(one["encoder"]),
            )
            for one in said.get("caches", [said])
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DoctorError(f"{module} gave no answer that is understood here: {error}") from error
    return Regeneration(child=child, argv=argv, caches=caches)


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
