"""Which Python the job runs under: the doctor may live in an environment of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from diagnostics.core.errors import UsageError


def choose(explicit: str | None, environ: Mapping[str, str], *, own_has_torch: bool | None = None) -> str:
    """Returns the interpreter for children that need torch, as an absolute path.

    The user's choice; else the doctor's own where torch can be found there (it is not imported); else the
    activated environment's; else python3 on PATH. Raises UsageError for a choice that cannot be run.
    """
    if explicit is not None:
        return _existing(explicit)
    if own_has_torch if own_has_torch is not None else importlib.util.find_spec("torch") is not None:
        return sys.executable
    if environ.get("VIRTUAL_ENV"):
        candidate = Path(environ["VIRTUAL_ENV"]) / "bin" / "python"
        if os.access(candidate, os.X_OK):
            return str(candidate)
    return shutil.which("python3", path=environ.get("PATH")) or sys.executable


def _existing(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UsageError(
            f"--python {name}: no such program, or it may not be run", hint=f"check it: ls -lL {name}; which python3"
        )
    return str(Path(found).absolute())  # not resolved: the link's place is what makes it that environment's
