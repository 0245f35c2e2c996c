"""Logs of everything else: a rented machine's provisioning, a shell's output. What they say is a claim.

What they complain about beside the training (a tunnel that could not be opened) says nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.record.tracebacks import tracebacks
from diagnostics.triage.decoding.times import first_time_s, last_time_s
from diagnostics.triage.readers.common import error_words
from diagnostics.triage.readers.log_text import claim_of_success, interruption, logs_in, text_of, tracker_ids
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "log"
_INSTALLS = re.compile(
    r"^(?:Collecting |Requirement already satisfied|Downloading |Installing |Get:\d|Unpacking |  Downloading )", re.M
)
_OF_A_LAUNCHER = re.compile(r"torch[./]distributed[./]elastic|torchrun")  # whose reader knows what its ranks did
_TRAINS = re.compile(r"\bwandb: |\b(?:epoch|step|iteration|iter)\b\W{0,3}\d", re.IGNORECASE)


def find(folder: Folder) -> Iterator[Path]:
    """Yields logs that name a tracker's run, claim success, install something or hold an exception."""
    for path in logs_in(folder):
        text = text_of(path)
        told = tracker_ids(text) or claim_of_success(text) or "Traceback (most" in text or _INSTALLS.search(text)
        if folder.named or told:
            yield path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the run of a log."""
    text = text_of(path)
    done, error = claim_of_success(text), error_words(tracebacks(text))
    ended = interruption(text) if not _OF_A_LAUNCHER.search(text) else ""
    lines = [line for line in text.splitlines() if line.strip()]
    notes = [f"the last line of {path.name} is '{lines[-1].strip()[:100]}'"] if lines else [f"{path.name} is empty"]
    if _INSTALLS.search(text) and not _TRAINS.search(text):
        notes.append("packages were being installed; nothing in the log says that training began")
    yield RunTrace(
        source=KIND, path=str(path), run_id=path.stem, aliases=tracker_ids(text), is_tracker=False,
        started_s=first_time_s(text), last_sign_s=max(filter(None, (last_time_s(text), path.stat().st_mtime))),
        said=Claim.KILLED if ended else Claim.FINISHED if done else Claim.NOTHING,
        said_words=ended or (f"the log says '{done}'" if done else ""),
        error=error, notes=tuple(notes),
    )  # fmt: skip
