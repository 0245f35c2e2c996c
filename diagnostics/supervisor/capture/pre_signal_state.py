"""Keeps what a job had recorded before anybody asked it to end, or while it stood still: the evidence of a verdict.

`record/before/` is a record in itself, without sources: job.json, agents/, captures/, output/. What the job writes
later, its teardown, goes into the record around it. Made at the first signal that the doctor sends, and with each
provisional report; a later one takes the place of an earlier one.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import asdict, replace
from pathlib import Path

from diagnostics.record.record import BEFORE
from diagnostics.record.supervisor_facts import Missing, SupervisorFacts
from diagnostics.supervisor.capture.run_folder import RunFolder
from diagnostics.supervisor.capture.snapshot import keep_json

BLOCK_BYTES = 16 << 10  # of an agent's file, most blocks are empty: the copy has holes there
MOST_BYTES = 512 << 20  # read in all: a second's work
_PART = f".{BEFORE}.part"


def keep_state(place: RunFolder, facts: SupervisorFacts) -> tuple[Missing, ...]:
    """Copies the record as it is now into record/before. Never raises: without it the whole record has to do.

    An earlier state goes in any case: the job may have gone on since.
    """
    part = place.record / _PART
    shutil.rmtree(place.record / BEFORE, ignore_errors=True)
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700)
        _copy(place.agents, part / "agents")
        for name in ("captures", "output"):
            _copy(place.record / name, part / name)
        # Whoever is about to end the job has not yet: it runs.
        missing = keep_json(part / "job.json", asdict(replace(facts, ended_by="itself", ended_s=None)))
        if not missing:
            part.rename(place.record / BEFORE)
        return tuple(missing)
    except OSError as error:
        return (Missing(what="the state before the first signal", why=f"{type(error).__name__}: {error}"),)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _copy(folder: Path, to: Path) -> None:
    """Copies the regular files of a folder, ranks' and launchers' first: they are the oldest."""
    to.mkdir(mode=0o700)
    left = MOST_BYTES
    found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in os.scandir(folder)]
    files = [(facts.st_ctime_ns, name, facts.st_size) for name, facts in found if stat.S_ISREG(facts.st_mode)]
    for _, name, size in sorted(files):
        left -= size
        if left >= 0:
            _copy_file(folder / name, to / name)


def _copy_file(path: Path, to: Path) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # removed meanwhile
        return
    with os.fdopen(fd, "rb") as file, open(to, "xb", opener=_private) as copy:
        size = 0
        while block := file.read(BLOCK_BYTES):
            size += len(block)
            if block.count(0) == len(block):
                copy.seek(len(block), os.SEEK_CUR)
            else:
                copy.write(block)
        copy.truncate(size)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
