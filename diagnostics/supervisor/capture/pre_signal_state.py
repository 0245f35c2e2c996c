"""Keeps what a job had recorded before anybody asked it to end, or while it stood still: the evidence of a verdict.

`record/before/` is a record in itself, without sources: job.json, agents/, captures/, output/. What the job writes
later, its teardown, goes into the record around it. Made at the first signal that the doctor sends, and with each
provisional report; a later one takes the place of an earlier one.
"""

from __future__ import annotations

import os
import re
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
_OF_PROCESS = re.compile(r"(?:^|-)\d+-(\d+)[.-]")  # agent-PID-TICKS.bin, PID-TICKS.stdout.txt
EXPECTED = f".{BEFORE}-expected"  # the state of a pause that may soon be a stall


def keep_state(place: RunFolder, facts: SupervisorFacts, name: str = BEFORE) -> tuple[Missing, ...]:
    """Copies the record as it is now into record/before. Never raises: without it the whole record has to do.

    An earlier state goes in any case, since the job may have gone on; not before this one is whole or has failed.
    """
    part, kept = place.record / f".{name}.part", place.record / name
    missing: list[Missing] = []
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700)
        left = _copy(place.agents, part / "agents", MOST_BYTES)
        for name in ("captures", "output"):
            left = _copy(place.record / name, part / name, left)
        # Whoever is about to end the job has not yet: it runs.
        missing += keep_json(part / "job.json", asdict(replace(facts, ended_by="itself", ended_s=None)))
        shutil.rmtree(kept, ignore_errors=True)
        if not missing:
            part.rename(kept)
    except OSError as error:
        shutil.rmtree(kept, ignore_errors=True)
        missing.append(Missing(what="the state before the first signal", why=f"{type(error).__name__}: {error}"))
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return tuple(missing)


def adopt_expected(record: Path) -> None:
    """Makes the state of a pause that has become a stall the one before the end. Raises OSError."""
    shutil.rmtree(record / BEFORE, ignore_errors=True)
    (record / EXPECTED).rename(record / BEFORE)


def drop_expected(record: Path) -> None:
    """Removes the state of a pause that was none, where there is one."""
    shutil.rmtree(record / EXPECTED, ignore_errors=True)


def _copy(folder: Path, to: Path, left: int) -> int:
    """Copies the regular files of a folder, at most `left` bytes; returns how many may still be copied.

    Those of ranks and launchers first, which are the oldest processes.
    """
    to.mkdir(mode=0o700)
    files = []
    for entry in os.scandir(folder):
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError:  # the process has ended, and its file with it
            continue
        if stat.S_ISREG(facts.st_mode):
            files.append((_start_ticks(entry.name), entry.name, facts.st_size))
    for _, name, size in sorted(files):
        if size <= left and _copy_file(folder / name, to / name):
            left -= size
    return left


def _start_ticks(name: str) -> int:
    """Returns when the process began that a file is named after, 0 for a file of no process."""
    match = _OF_PROCESS.search(name)
    return int(match[1]) if match else 0


def _copy_file(path: Path, to: Path) -> bool:
    """Copies one file; False where it has gone meanwhile."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # removed meanwhile
        return False
    with os.fdopen(fd, "rb") as file, open(to, "xb", opener=_private) as copy:
        size = 0
        while block := file.read(BLOCK_BYTES):
            size += len(block)
            if block.count(0) == len(block):
                copy.seek(len(block), os.SEEK_CUR)
            else:
                copy.write(block)
        copy.truncate(size)
    return True


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
