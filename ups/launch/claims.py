"""Whose run an output folder holds, for ranks that torchrun started: after its restart they go on in their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ups.run_folder import write_atomically

NAME = "launched_by"


def write(folder: Path, environ: Mapping[str, str]) -> None:
    """Notes which launch uses the folder."""
    write_atomically(folder / NAME, (_launch(environ) + "\n").encode())


def is_restart(folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether this is a later attempt of the launch whose run lies in the folder."""
    path = folder / NAME
    if environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0" or not path.exists():
        return False
    return path.read_text(encoding="utf-8").strip() == _launch(environ)


def _launch(environ: Mapping[str, str]) -> str:
    """Returns what tells one launch from all others: its id, or, where none was given, the launcher's process."""
    run = environ.get("TORCHELASTIC_RUN_ID", "")
    if run not in ("", "none"):
        return run
    parent = os.getppid()
    ticks = Path(f"/proc/{parent}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    return f"{parent}-{ticks}"
