"""Slurm's accounting: the text of `sacct`, with or without -p."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.triage.decoding.times import iso_s
from diagnostics.triage.readers.log_text import logs_in, text_of
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "sacct"
_FIRST = re.compile(r"\s*JobID[|\s]")
_COLUMN = re.compile(r"\S+")
SAID = {
    "COMPLETED": Claim.FINISHED, "RUNNING": Claim.RUNNING, "PENDING": Claim.RUNNING, "REQUEUED": Claim.RUNNING,
    "FAILED": Claim.FAILED, "OUT_OF_MEMORY": Claim.FAILED, "NODE_FAIL": Claim.FAILED, "BOOT_FAIL": Claim.FAILED,
    "TIMEOUT": Claim.KILLED, "DEADLINE": Claim.KILLED, "CANCELLED": Claim.KILLED, "PREEMPTED": Claim.KILLED,
    "REVOKED": Claim.KILLED,
}  # fmt: skip


def find(folder: Folder) -> Iterator[Path]:
    """Yields texts that begin with sacct's header."""
    for path in [*logs_in(folder), *(folder.files("sacct.txt") if not folder.named else [])]:
        if _FIRST.match(text_of(path)[:40]):
            yield path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields each job; its steps (12.0, 12.batch) tell more of its end."""
    head, *lines = text_of(path).splitlines()
    rows = list(_rows(head, lines))
    for row in rows:
        job = row.get("JobID", "")
        state = row.get("State", "").split(" ")[0].rstrip("+")
        if not job or "." in job or state not in SAID:
            continue
        codes = [one.get("ExitCode", "") for one in rows if one.get("JobID", "").partition(".")[0] == job]
        code, signal = next((pair for pair in map(_code, codes) if pair != (0, None)), (0, None))
        started, ended = iso_s(row.get("Start", "")), iso_s(row.get("End", ""))
        yield RunTrace(
            source=KIND, path=f"{path} (job {job})", run_id=f"slurm-{job}", aliases=(f"job-{job}",), is_tracker=False,
            program=row.get("JobName", ""), started_s=started, ended_s=ended, last_sign_s=ended or started,
            runtime_s=ended - started if started and ended else None, host=row.get("NodeList", ""),
            exit_code=code if state != "RUNNING" else None, signal=signal, said=SAID[state],
            said_words=f"Slurm's state is {state}, exit code {code}{f', signal {signal}' if signal else ''}",
        )  # fmt: skip


def _rows(head: str, lines: list[str]) -> Iterator[dict[str, str]]:
    """Yields rows by name: fields between bars, or columns as wide as the dashes under the header."""
    if "|" in head:
        names = head.split("|")
        yield from (dict(zip(names, line.split("|"), strict=False)) for line in lines)
    elif lines:
        places = [found.span() for found in _COLUMN.finditer(lines[0])]
        names = [head[begin:end].strip() for begin, end in places]
        for line in lines[1:]:
            yield {name: line[begin:end].strip() for name, (begin, end) in zip(names, places, strict=True)}


def _code(text: str) -> tuple[int, int | None]:
    code, _, signal = text.partition(":")
    return (int(code) if code.isdigit() else 0), (int(signal) if signal.isdigit() and signal != "0" else None)
