"""The folder that a command was started in, also where it has been removed."""

from __future__ import annotations

import os
from pathlib import Path


def working_folder() -> Path:
    """Returns the current folder by its name; of one that was removed, the name that it had."""
    try:
        return Path.cwd()
    except OSError:
        return Path(_name_it_had())


def _name_it_had() -> str:
    try:
        return os.readlink("/proc/self/cwd").removesuffix(" (deleted)")  # noqa: PTH115 - a name, no path that leads on
    except OSError:
        return "/"
