"""Where files are moved, copied and backed up to: relative names kept, nothing ever inside what is scanned."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, replace
from pathlib import Path

from diagnostics.cache.repair.actions import Action, FilePlan, Identity
from diagnostics.cache.repair.paths import Roots
from diagnostics.cache.scan.files import QUARANTINE_NOTE
from diagnostics.core.errors import UsageError
from diagnostics.machine.host.disks import nearest_existing


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders that were asked for; `quarantine` None: one beside each folder that is scanned."""

    roots: Roots
    quarantine: Path | None = None
    backup: Path | None = None
    to: Path | None = None

    def check(self) -> None:
        """Raises UsageError for a folder that would mix with what is scanned, or with somebody's files."""
        for name, asked in (("--backup", self.backup), ("--to", self.to), ("--quarantine", self.quarantine)):
            if asked is not None:
                self._check_apart(name, str(asked.absolute()))
        folder = self.quarantine
        if folder and folder.is_dir() and any(folder.iterdir()) and not (folder / QUARANTINE_NOTE).exists():
            raise UsageError(
                f"--quarantine {folder} holds other files already", hint="name a new folder, or leave it out"
            )

    def _check_apart(self, name: str, folder: str) -> None:
        real = os.path.realpath(folder)
        for root in map(os.path.realpath, self.roots.paths):
            above = f"{root}/".startswith(f"{real}/")
            inside = f"{real}/".startswith(f"{root}/")
            if above or (inside and name != "--quarantine"):
                where = "is" if real == root else "lies inside" if inside else "is a parent of"
                raise UsageError(f"{name} {folder} {where} {root}, which is scanned", hint="name a folder beside it")

    def backup_of(self, plan: FilePlan) -> str:
        """Returns where the original is kept, "" without --backup."""
        return str(self.backup.absolute() / self.roots.relative(plan.path)) if self.backup else ""

    def with_target(self, plan: FilePlan) -> FilePlan:
        """Returns the plan with the place where the file is moved or copied to."""
        if plan.action is Action.QUARANTINE:
            return self._in_quarantine(plan)
        if plan.action is Action.EXPORT and self.to:
            return _unless_there(replace(plan, target=str(self.to.absolute() / self.roots.relative(plan.path))))
        return plan

    def _in_quarantine(self, plan: FilePlan) -> FilePlan:
        home, relative = self.quarantine_of(plan)
        target = _free(str(home / relative))
        moves = device_of(home) == plan.identity.device
        size = 0 if moves else plan.identity.size
        return replace(plan, target=target, home=str(home), written=size, grows=size)

    def quarantine_of(self, plan: FilePlan) -> tuple[Path, str]:
        """Returns the quarantine folder of a file, which holds the note, and the file's name in it."""
        if self.quarantine:
            return self.quarantine.absolute(), self.roots.relative(plan.path)
        root = Path(self.roots.folder_of(plan.path))
        # Inside a mount point, or below a folder of somebody else, there is nothing beside it to rename to.
        beside = device_of(root.parent) == device_of(root) and os.access(root.parent, os.W_OK, effective_ids=True)
        home = root.parent / "quarantine" / root.name if beside and root.name else root / "quarantine"
        return home, os.path.relpath(plan.path, root)


def _free(name: str) -> str:
    """Returns the name, numbered where earlier files have it: nothing in a quarantine is overwritten."""
    names = itertools.chain([name], (f"{name}.{number}" for number in itertools.count(1)))
    return next(candidate for candidate in names if not os.path.lexists(candidate))


def device_of(folder: Path) -> int:
    """Returns the file system of a folder that may not exist yet."""
    return nearest_existing(folder).stat().st_dev


def _unless_there(plan: FilePlan) -> FilePlan:
    """Returns a plan that copies nothing where an earlier run has done so already."""
    try:
        there = Identity.of(os.stat(plan.target))  # noqa: PTH116 - strings throughout
    except OSError:
        return plan
    if (there.size, there.modified_ns) == (plan.written, plan.identity.modified_ns):
        return replace(plan, action=Action.PRESENT, written=0, grows=0)
    return replace(plan, note="replaces an older copy")
