"""A distributed checkpoint folder without its `.metadata`: the save was stopped before its end.

What it does: reports folders that hold `.distcp` files and no `.metadata` (nor `__0.metadata` of ranks that
save for themselves). A warning: it may be a save that runs right now, or one node's part of a checkpoint
on local disks, where the first node alone has the metadata.

Why it matters: `torch.distributed.checkpoint` writes `.metadata` last. Without it nothing can be loaded from
the folder, and a job that resumes from its newest checkpoint ends at once.

Bad:

    step_2000/__0_0.distcp  step_2000/__1_0.distcp

Good:

    step_2000/.metadata  step_2000/__0_0.distcp  step_2000/__1_0.distcp

Fix: resume from the checkpoint before it; remove the folder once no job is writing to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.folder_check import Across, AcrossProblem
from diagnostics.cache.folder_checks.by_folder import ByFolder
from diagnostics.core.findings import Severity

CODE = "C154"
NAME = "unfinished-checkpoint"
MEANINGS = {NAME: "belong to distributed checkpoints that were not finished"}
REMEDIES = {NAME: "resume from the checkpoint before; remove the folder once no job is writing to it"}
MAX_ENTRIES = 100_000  # of a folder, looked through for the metadata


def begin() -> Across:
    """Starts one run."""
    return ByFolder(FolderCheckpoint)


@dataclass(slots=True)
class FolderCheckpoint:
    """The checkpoint files of one folder."""

    folder: str
    parts: int = 0

    def add(self, scan: FileScan, name: str) -> None:
        """Counts the files that need metadata."""
        self.parts += name.startswith("__") and name.endswith(".distcp")

    def close(self) -> Iterator[AcrossProblem]:
        """Yields one problem where the folder has parts and no metadata."""
        if not self.parts or _has_metadata(self.folder or "."):
            return
        problem = Problem(
            name=NAME,
            observed=f"{self.parts} .distcp file{'s' * (self.parts > 1)}, no .metadata",
            expected="a .metadata file, which is written last",
            severity=Severity.WARNING,
        )
        yield AcrossProblem(path=self.folder or ".", problem=problem, files=self.parts)


def _has_metadata(folder: str) -> bool:
    # The folder itself is asked: the files that are scanned may be a part of it.
    try:
        with os.scandir(folder) as entries:
            found = (entry for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False))
            return any(entry.name.endswith(".metadata") and entry.stat().st_size > 0 for entry in found)
    except OSError:
        return True  # nothing is known
