"""Which checkpoints go once a new one is there."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnostics.api import DoctorError
from ups.checkpointing.layout import REPLACED, read_manifest, whole
from ups.config import CheckpointConfig


@dataclass(frozen=True, slots=True)
class Kept:
    """What a policy looks at of one checkpoint."""

    path: Path
    stage: str
    time: float  # seconds since 1970
    validation: float | None  # the error at the end of its epoch, None in the middle of one


def to_remove(found: Sequence[Kept], policy: CheckpointConfig) -> list[Path]:
    """Returns those that the policy gives up; `found` has the newest first, which always stays."""
    kept = {one.path for one in found[: policy.keep_last]}
    if policy.keep_best:
        for stage in {one.stage for one in found}:
            scored = [one for one in found if one.stage == stage and one.validation is not None]
            kept |= {one.path for one in sorted(scored, key=lambda one: one.validation or 0.0)[:1]}
    if policy.keep_every_hours is not None:
        last = float("-inf")
        for one in reversed(found):
            if one.time - last >= policy.keep_every_hours * 3600:
                kept.add(one.path)
                last = one.time
    return [one.path for one in found if one.path not in kept]


def prune(checkpoints: Path, policy: CheckpointConfig) -> None:
    """Removes what the policy gives up. One whose manifest cannot be read counts for nothing, and stays.

    Raises OSError.
    """
    found = []
    for path in whole(checkpoints):
        try:
            manifest = read_manifest(path)
        except DoctorError:
            continue
        found.append(Kept(path, manifest["stage"], manifest["time"], manifest["validation"]))
    for path in to_remove(found, policy):
        aside = path.rename(path.with_name(path.name + REPLACED))  # half of one is none
        shutil.rmtree(aside)
