"""Has a folder removed however this process ends: by a program that outlives it, also where it is killed with -9."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_HERE = Path(__file__).parent
_STARTED: list[subprocess.Popen[bytes]] = []  # they outlive us: Python would warn of one that nobody holds


class Removal:
    """A program that waits for this process's end; `close` has it remove the folder now."""

    def __init__(self, folder: Path) -> None:
        self._program = _started("broom.py", str(folder), stdin=subprocess.PIPE)

    def close(self) -> None:
        """Returns once the folder is gone."""
        if self._program is not None and self._program.stdin is not None:
            self._program.stdin.close()
            self._program.wait()


def remove_unread(copy: Path, ram_disk: Path) -> None:
    """Has a copy of the latent cache removed from the RAM disk once no process has its lock; this one has it now."""
    packages = Path(__file__).parents[2]
    _started("ram_broom.py", str(copy), str(ram_disk), str(packages), stdin=subprocess.DEVNULL)


def _started(program: str, *arguments: str, stdin: int) -> subprocess.Popen[bytes] | None:
    null = subprocess.DEVNULL
    with suppress(OSError):  # no process to be had: the next run tidies up
        running = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_HERE / program), *arguments],
            stdin=stdin,
            stdout=null,
            stderr=null,
            cwd="/",
            start_new_session=True,  # a signal to our group is not meant for it
        )
        _STARTED.append(running)
        return running
    return None
