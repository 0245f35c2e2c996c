"""What one cache file needs: scanned, and where something is wrong, the action that makes it right. Changes nothing."""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import dataclass, replace
from functools import cache

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import HARMLESS_DEVICES, FileScan, Problem
from diagnostics.cache.patch import Patch, UnrepairableError
from diagnostics.cache.repair.actions import Action, FilePlan, Identity
from diagnostics.cache.repair.ways import folder_refusal, way
from diagnostics.cache.scan.one_file import format_of, formats, scan_file
from diagnostics.core.findings import Severity
from diagnostics.machine.processes.file_writers import is_written

# Such a file is of no use to any loader: it is moved away, never repaired by guessing.
USELESS = frozenset({"truncated-file", "corrupt-file"})
UNSAFE = "unsafe-pickle"
ITS_OWN_CLASSES = "left as it is: programs that know what it names may need it"
DEVICE_PROBLEM = "cuda-in-cache"
HALF_WRITTEN = "half-written"
NO_REPAIR = "there is no repair of this kind of file"
RESAVE = (
    'import os, sys, torch; p = sys.argv[1]; torch.save(torch.load(p, map_location="cpu", weights_only=True), '
    'p + ".new"); os.replace(p + ".new", p)'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """What was asked for."""

    compact: bool = False
    quarantine: bool = True
    export: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One file, small enough to send 100,000 of them between processes. `plan` is None where nothing is to do."""

    size: int
    format: str
    skipped: str
    devices: tuple[str, ...]
    problems: tuple[str, ...]  # at error level
    warnings: tuple[str, ...]
    written: bool | None  # whether a process writes to it; None: unknown
    plan: FilePlan | None


def look(path: str, wish: RepairRequest) -> Assessment:
    """Returns what the file is and needs; never raises for a file."""
    scan = scan_file(path)
    try:
        plan = _planned(path, scan, wish)
        written = is_written(path) if plan and plan.action is not Action.LEAVE else None
    except OSError as error:
        plan, written = unreadable(path, Problem(name="unreadable-file", observed=error.strerror or str(error))), None
    except Exception as error:  # a fault of one format's repair on one file: the others are repaired
        fault = f"a fault of ups-doctor: {type(error).__name__}: {error}"
        plan, written = unreadable(path, Problem(name="unreadable-file", observed=fault)), None
    return Assessment(
        size=scan.size,
        format=scan.format,
        skipped=scan.skipped,
        devices=tuple(scan.devices),
        problems=_names(scan, Severity.ERROR),
        warnings=_names(scan, Severity.WARNING),
        written=written,
        plan=plan,
    )


def _names(scan: FileScan, severity: Severity) -> tuple[str, ...]:
    return tuple(dict.fromkeys(problem.name for problem in scan.problems if problem.severity is severity))


def unreadable(path: str, problem: Problem) -> FilePlan:
    """Returns the plan for what this user cannot look into."""
    verb = "listed" if problem.name == "unreadable-folder" else "read"
    plan = not_entered(path, f"cannot be {verb}: {problem.observed}")
    return replace(plan, problems=(problem.name,), commands=(shlex.join(["namei", "-l", path]),))


def not_entered(path: str, why: str) -> FilePlan:
    """Returns the plan that leaves alone what was not looked into."""
    return FilePlan(path=path, real=path, action=Action.LEAVE, identity=Identity(0, 0, 0, 0), why=why)


def _planned(path: str, scan: FileScan, wish: RepairRequest) -> FilePlan | None:
    errors = _names(scan, Severity.ERROR)
    if "unreadable-file" in errors:
        return unreadable(path, scan.problems[0])
    if not errors and not wish.export and not (wish.compact and scan.code and not scan.skipped):
        return None
    status = os.stat(path)  # noqa: PTH116 - a Path for each file costs a third of the scan
    if not stat.S_ISREG(status.st_mode):
        return None
    plan = FilePlan(
        path=path,
        real=os.path.realpath(path),
        action=Action.LEAVE,
        identity=Identity.of(status),
        links=status.st_nlink,
        problems=errors,
        devices=tuple(device for device in scan.devices if device not in HARMLESS_DEVICES),
        why="; ".join(problem.observed for problem in scan.problems if problem.severity is Severity.ERROR),
    )
    if USELESS.intersection(errors) or any(problem.dangerous for problem in scan.problems):
        return _useless(plan, wish, part=scan.code in _parts())
    patch: Patch | None = None
    if DEVICE_PROBLEM in errors or (wish.compact and scan.code and not scan.skipped):
        try:
            patch = repair_of(path, compact=wish.compact)
        except (UnrepairableError, DamagedFileError) as error:
            return _unrepairable(plan, str(error)) if errors or wish.export else None
    if wish.export and HALF_WRITTEN in _names(scan, Severity.WARNING):
        return None  # what a writer left behind fills no RAM disk
    if wish.export:
        return _export(plan, patch) if patch or not set(errors) - {UNSAFE} else _unrepairable(plan, "")
    if patch is None:
        return _unrepairable(plan, ITS_OWN_CLASSES if UNSAFE in errors else "") if errors else None
    return way(plan, status, patch, compact=wish.compact)


@cache
def _parts() -> frozenset[str]:
    return frozenset(plugin.CODE for plugin in formats() if getattr(plugin, "PART_OF_SEVERAL", False))


def _useless(plan: FilePlan, wish: RepairRequest, *, part: bool) -> FilePlan:
    if wish.export:
        return replace(plan, why=f"not copied: {plan.why}")
    if part:
        return replace(plan, why=f"part of several files that only make sense together: {plan.why}")
    if not wish.quarantine:
        return replace(plan, why=f"left where it is (--no-quarantine): {plan.why}")
    if plan.real != os.path.abspath(plan.path):  # noqa: PTH100 - links must stay links here
        return replace(plan, why=f"a link to {plan.real}, which is not moved unless it is named itself: {plan.why}")
    if refusal := folder_refusal(plan.path):
        return replace(plan, why=f"{refusal[0]}: {plan.why}", commands=(refusal[1],))
    return replace(plan, action=Action.QUARANTINE)


def _unrepairable(plan: FilePlan, reason: str) -> FilePlan:
    by_torch = DEVICE_PROBLEM in plan.problems
    command = (shlex.join(["python", "-c", RESAVE, plan.path]),) if by_torch else ()
    return replace(plan, why="; ".join(part for part in (plan.why, reason) if part), commands=command)


def _export(plan: FilePlan, patch: Patch | None) -> FilePlan:
    size = patch.size if patch else plan.identity.size
    why = "; ".join(patch.changes) if patch else "copied as it is"
    return replace(plan, action=Action.EXPORT, why=why, written=size, grows=size)


def patch_of(file: FileBytes, *, compact: bool) -> Patch | None:
    """Returns how the open file is repaired, None where nothing is to do.

    Raises UnrepairableError, DamagedFileError.
    """
    plugin = format_of(file)
    repair = getattr(plugin, "repair", None)
    if plugin is None or repair is None:
        raise UnrepairableError(NO_REPAIR)
    patch: Patch | None = repair(file, compact=compact)
    return patch


def repair_of(path: str, *, compact: bool) -> Patch | None:
    """Returns how the file is repaired; None where nothing is to do. Raises UnrepairableError, OSError."""
    with FileBytes(path) as file:
        return patch_of(file, compact=compact)
