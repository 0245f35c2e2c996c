"""Keeps a cache's manifest true: a file whose tags were rewritten has another size than the manifest says."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from diagnostics.cache.formats.ups_manifest import MAX_BYTES, OURS
from diagnostics.cache.repair.actions import REWRITING, FileOutcome, RepairStatus
from diagnostics.cache.repair.copies import keep_attributes
from diagnostics.cache.repair.temporaries import temporary_name
from diagnostics.core.errors import from_os_error

MANIFEST = "manifest.json"


def follow(outcomes: Iterable[FileOutcome]) -> None:
    """Puts the new sizes of repaired files into the manifests beside them, where the old ones stood.

    Only manifests of ups's latent cache are touched, each in one step. Raises DoctorError where one cannot be.
    """
    folders: dict[Path, dict[str, int]] = {}
    for outcome in outcomes:
        if outcome.status is RepairStatus.DONE and outcome.plan.action in REWRITING:
            for real in map(Path, (outcome.plan.real, *outcome.plan.also)):
                folders.setdefault(real.parent, {})[real.name] = outcome.plan.identity.size
    for folder, before in folders.items():
        path = folder / MANIFEST
        try:
            if (content := _ours(path)) is not None and _update(content["files"], folder, before):
                _replace(path, (json.dumps(content, indent=1) + "\n").encode())
        except OSError as error:
            raise from_os_error(error, action="cannot write the new sizes into", path=path) from error


def _ours(path: Path) -> dict[str, Any] | None:
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        return None
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    known = isinstance(content, dict) and {*OURS} <= content.keys() and isinstance(content["files"], dict)
    return content if known else None


def _update(sizes: dict[str, Any], folder: Path, before: dict[str, int]) -> bool:
    """Returns whether a size was another one."""
    changed = False
    for name, old in before.items():
        now = os.stat(folder / name).st_size  # noqa: PTH116 - the same as elsewhere here
        if sizes.get(name) == old != now:
            sizes[name], changed = now, True
    return changed


def _replace(path: Path, content: bytes) -> None:
    temporary = temporary_name(path)
    try:
        with path.open("rb") as old, temporary.open("xb") as new:
            new.write(content)
            new.flush()
            keep_attributes(old.fileno(), new.fileno(), os.fstat(old.fileno()))
            os.fsync(new.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
