"""What ties a living process to those who started it: its session, whether it hears a hang-up, its open files."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.processes.pidfds import stat_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """`files` are (device, inode) of all that it has open; None where they may not be read."""

    parent: int
    session: int
    ignores_hangup: bool
    files: frozenset[tuple[int, int]] | None


def attachment(pid: int) -> Attachment | None:
    """Returns what ties a process to others, None where it has ended."""
    words = stat_words(pid)
    if words is None or words[0] in "ZX":
        return None
    return Attachment(
        parent=int(words[1]), session=int(words[3]), ignores_hangup=ignores_hangup(pid), files=_open_files(pid)
    )


def ignores_hangup(pid: int) -> bool:
    """Whether SIGHUP is ignored, as nohup has it."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    masks = [line.split()[1] for line in text.splitlines() if line.startswith("SigIgn:")]
    return bool(masks and int(masks[0], 16) >> (signal.SIGHUP - 1) & 1)


def _open_files(pid: int) -> frozenset[tuple[int, int]] | None:
    found = set()
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - names are all we need
    except OSError:
        return None
    for name in names:
        try:
            facts = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116 - through the link, whatever it leads to
        except OSError:  # closed meanwhile
            continue
        found.add((facts.st_dev, facts.st_ino))
    return frozenset(found)
