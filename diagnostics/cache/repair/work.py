"""Carries out the plan of one file; whatever happens, the file is the old one or the new one, and the others go on."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.patch import Patch, UnrepairableError
from diagnostics.cache.repair import quarantine
from diagnostics.cache.repair.actions import REWRITING, Action, FileOutcome, FilePlan, Identity, RepairStatus
from diagnostics.cache.repair.apply import apply
from diagnostics.cache.repair.copies import copy_whole, same_bytes
from diagnostics.cache.repair.in_use import Writers
from diagnostics.cache.repair.look import DEVICE_PROBLEM, patch_of
from diagnostics.cache.repair.places import Places
from diagnostics.core.errors import DoctorError, from_os_error


class _LeftAloneError(Exception):
    """The file is not touched; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairWorker:
    """What the work on every file needs."""

    places: Places
    writers: Writers
    compact: bool = False

    def work(self, plan: FilePlan) -> FileOutcome:
        """Returns what became of the file; never raises for a file."""
        began = time.monotonic()
        status, text, written, backup = RepairStatus.FAILED, "", 0, ""
        try:
            self._still_the_same(plan)
            backup = self._backed_up(plan) if plan.action in REWRITING else ""
            text, written = self._done(plan)
            status = RepairStatus.DONE
        except _LeftAloneError as reason:
            status, text = RepairStatus.LEFT, str(reason)
        except (UnrepairableError, DamagedFileError) as error:
            text = str(error)
        except DoctorError as error:
            text = f"{error.message}; {error.hint}" if error.hint else error.message
        except OSError as error:
            text = from_os_error(error, action="cannot write" if plan.target else "cannot repair").message
        seconds = time.monotonic() - began
        return FileOutcome(plan=plan, status=status, text=text, written=written, seconds=seconds, backup=backup)

    def _still_the_same(self, plan: FilePlan) -> None:
        try:
            now = Identity.of(os.stat(plan.real))  # noqa: PTH116 - strings throughout
            in_use = self.writers.still(plan) if now == plan.identity else None
        except FileNotFoundError:
            raise _LeftAloneError("it was removed since the plan was made") from None
        if now != plan.identity:
            raise _LeftAloneError("it was changed since the plan was made; run again")
        if in_use:
            raise _LeftAloneError(in_use.why)

    def _backed_up(self, plan: FilePlan) -> str:
        target = self.places.backup_of(plan)
        if not target:
            return ""
        source, kept = Path(plan.real), Path(target)
        if not os.path.lexists(kept):
            copy_whole(source, kept)
        if not same_bytes(source, kept):
            raise DoctorError(
                f"not repaired: its backup {kept} holds something else", hint="name a new folder with --backup"
            )
        return target

    def _done(self, plan: FilePlan) -> tuple[str, int]:
        """Returns what was done, in words where the plan did not say it, and the bytes written."""
        match plan.action:
            case Action.APPEND | Action.COPY | Action.COMPACT:
                return self._repaired(plan)
            case Action.QUARANTINE:
                return "", quarantine.move(plan)
            case Action.EXPORT:
                return "", self._exported(plan)
        raise _LeftAloneError(plan.why)

    def _repaired(self, plan: FilePlan) -> tuple[str, int]:
        with FileBytes(plan.real) as file:
            patch = patch_of(file, compact=self.compact)
        if patch is None:
            raise _LeftAloneError("nothing is left to do: it was repaired since the plan was made")
        applied = apply(Path(plan.real), patch, expected=plan.identity, also=plan.also)
        return "; ".join(applied.notes), applied.written

    def _exported(self, plan: FilePlan) -> int:
        patch: Patch | None = None
        if self.compact or DEVICE_PROBLEM in plan.problems:
            with FileBytes(plan.real) as file:
                patch = patch_of(file, compact=self.compact)
        return copy_whole(Path(plan.real), Path(plan.target), patch.pieces if patch else (), over=True)
