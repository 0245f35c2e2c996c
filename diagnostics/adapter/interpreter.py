"""Which Python the job runs under: the doctor may live in an environment of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from diagnostics.core import redaction
from diagnostics.core.errors import UsageError
from diagnostics.core.wording import last_line

ANSWERS_WITHIN_S = 20.0  # of a cold disk
_ANSWER = "runs-python"  # in two parts in the program: what only repeats its arguments does not say it


def choose(explicit: str | None, environ: Mapping[str, str], *, own_has_torch: bool | None = None) -> str:
    """Returns the interpreter for children that need torch, as an absolute path.

    The user's choice; else the doctor's own where torch can be found there (it is not imported); else the
    activated environment's; else python3 on PATH. Raises UsageError for a choice that cannot be run
    or is no Python.
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


def _is_no_python(path: str) -> str | None:
    """Returns what a program says that is no Python, None for one that is; one that does not answer may be one."""
    try:
        ran = subprocess.run(
            [path, "-c", f"print('{_ANSWER[:3]}' + '{_ANSWER[3:]}')"], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=ANSWERS_WITHIN_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return error.strerror or ""
    if _ANSWER in ran.stdout:
        return None
    said = redaction.line(last_line(ran.stderr))[:160]
    return said if _ANSWER[:3] not in said else ""  # it took our program for a file's name


def _existing(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UsageError(
            f"--python {name}: no such program, or it may not be run", hint=f"check it: ls -lL {name}; which python3"
        )
    path = str(Path(found).absolute())
    said = _is_no_python(path)
    if said is not None:
        raise UsageError(
            f"--python {name} is no Python: it does not run `-c`" + (f" ({said})" if said else ""),
            hint="name the interpreter of the job's environment: which python3",
        )
    return path  # not resolved: the link's place is what makes it that environment's
