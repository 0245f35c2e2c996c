"""The newest checkpoint of a run that is whole; a damaged one is told, and the one before it is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from diagnostics.api import DoctorError
from ups import checkpoint
from ups.checkpointing import layout
from ups.checkpointing.state import Found
from ups.distributed import World, on_all_ranks
from ups.errors import AgreedError, UpsError
from ups.run_folder import RunFolder


def newest(folder: RunFolder, world: World, say: Callable[[str], None]) -> Found | None:
    """Returns what to go on from, None where nothing was written yet; the ranks share the reading of the files.

    Raises AgreedError where there are checkpoints and not one of them is good.
    """
    if world.is_first:
        layout.remove_unfinished(folder.checkpoints)
    refused: list[str] = []
    candidates: list[Path] = on_all_ranks(layout.whole(folder.checkpoints), world)[0]
    for path in candidates:
        facts, wrong = _examined(path, world.rank, world.size)
        wrong = [one for part in on_all_ranks(wrong, world) for one in part]
        if not wrong and facts is not None:
            return Found(path, facts)
        refused.append(f"{path.name} is damaged: {wrong[0]}")
        say(f"checkpoint {refused[-1]}; the one before it is taken")
    if folder.last.exists():
        old = checkpoint.load(folder.last, "last")
        return Found(folder.last, old, old)
    if refused:
        raise AgreedError(
            f"no checkpoint in {folder.checkpoints} is good: {'; '.join(refused)}",
            hint="put one back from a copy, or start another run: --set output.dir=...",
        )
    return None


def opened(path: Path) -> Found:
    """Returns one checkpoint by its folder or last.pt, every file of it examined. Raises DataError."""
    if path.is_file():
        old = checkpoint.load(path, "last")
        return Found(path, old, old)
    facts, wrong = _examined(path, 0, 1)
    if wrong or facts is None:
        raise UpsError(f"checkpoint {path} is damaged: {wrong[0]}")
    return Found(path, facts)


def _examined(path: Path, part: int, parts: int) -> tuple[dict[str, Any] | None, list[str]]:
    try:
        manifest = layout.read_manifest(path)
    except DoctorError as error:
        return None, [error.message]
    return manifest, layout.problems(path, manifest, sorted(manifest["files"])[part::parts])
