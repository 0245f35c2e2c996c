"""Makes throwaway environments: announced with their size, asked for, and kept for the next time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from diagnostics.bisection.environments.plan import PIP_QUIET, default_cache, discard, plan
from diagnostics.bisection.wanted import READY, Environment
from diagnostics.core import redaction
from diagnostics.machine.facts import ChildTimeout, MachineError

if TYPE_CHECKING:
    from diagnostics.bisection.progress import BisectionProgress
    from diagnostics.machine.contract import Child

GB, MB = 1e9, 1e6
UNPACKED = 1.7  # bytes on disk for one of a wheel of torch and its libraries
INSTALL_DEADLINE_S = 3600.0
ASKED_DEADLINE_S = 60.0
_WHERE = (
    "import json, sys, sysconfig; print(json.dumps([sysconfig.get_path('purelib'), sysconfig.get_path('platlib')]))"
)


def ask_for(
    wanted: Sequence[str],
    *,
    python: str,
    child: Child,
    progress: BisectionProgress,
    confirm: Callable[[str], bool],
    on_cpu: bool = True,
    cache: Path | None = None,
) -> tuple[Environment, ...]:
    """Returns the environments, with the reason for each that cannot be had; nothing is downloaded yet.

    `confirm` is given one line with what would be downloaded, and where it goes.
    """
    place = cache or default_cache()
    found = []
    for one in wanted:
        progress.doing(f"asking the package index about {one}")
        found.append(plan(one, place, python=python, child=child, on_cpu=on_cpu))
    missing = [one for one in found if not one.problem and not one.ready]
    short = _lack_of_room(missing, place)
    agreed = not missing or (not short and confirm(announcement(missing, place)))
    if not agreed:
        for unwanted in missing:
            discard(unwanted)
    why = short or "not downloaded: it was not agreed to"
    return tuple(replace(one, problem=why) if one in missing and not agreed else one for one in found)


def announcement(missing: Sequence[Environment], place: Path) -> str:
    """Returns "download 4.1 GB for torch==2.9.1 ... into ~/.cache/ups-doctor/envs (about 7 GB there)"."""
    each = ", ".join(f"{one.wanted} {_size(one.bytes)} in {_packages(one.packages)}" for one in missing)
    total = sum(one.bytes or 0 for one in missing)
    unknown = "" if all(one.bytes is not None for one in missing) else " or more"
    return redaction.line(f"download {each} into {place} (about {_size(int(total * UNPACKED))} there{unknown})")


def _size(count: int | None) -> str:
    if count is None:
        return "(size unknown)"
    return f"{count / GB:.1f} GB" if count >= GB else f"{count / MB:.0f} MB"


def _packages(count: int) -> str:
    return f"{count} package{'s' if count != 1 else ''}"


def _lack_of_room(missing: Sequence[Environment], place: Path) -> str:
    sizes = [one.bytes or 0 for one in missing]
    needed = sum(sizes) * UNPACKED + max(sizes, default=0)  # the wheels of one lie beside it for a while
    existing = next(folder for folder in (place, *place.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    if needed < free:
        return ""
    return f"not downloaded: about {needed / GB:.1f} GB are needed, {existing} has {free / GB:.1f} GB free"


def install(one: Environment, *, python: str, child: Child, progress: BisectionProgress) -> Environment:
    """Returns the environment ready to be used, or with the reason why it is not.

    What the job's own Python has is found behind it, so that the user's modules can be imported there.
    """
    if one.problem or one.ready or one.folder is None:
        return one
    progress.doing(f"downloading {one.wanted}, {_size(one.bytes)}")
    try:
        pip = [one.python, "-m", "pip", "install", *PIP_QUIET, "--no-compile", *one.words]
        result = child.run(pip, deadline_s=INSTALL_DEADLINE_S, env={"PYTHONPATH": None})
        if result.returncode:
            lines = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
            return replace(one, problem=redaction.line(f"pip ended with exit code {result.returncode}: {lines[-1:]}"))
        _link(one, python, child)
        (one.folder / READY).write_text(json.dumps({"wanted": one.wanted}), encoding="utf-8")
    except (ChildTimeout, MachineError, OSError, ValueError) as error:
        return replace(one, problem=redaction.line(str(error)))
    return one


def _link(one: Environment, python: str, child: Child) -> None:
    """Has the job's packages found behind the environment's own."""
    theirs, own = (_folders(which, child) for which in (python, one.python))
    lines = [folder for folder in theirs if folder not in own]
    (Path(own[0]) / "zz_ups_doctor_job.pth").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _folders(python: str, child: Child) -> list[str]:
    result = child.run([python, "-c", _WHERE], deadline_s=ASKED_DEADLINE_S)
    return list(dict.fromkeys(json.loads(result.stdout)))
