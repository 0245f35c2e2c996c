"""Logs into which `ups-doctor run` has said its verdict: what it knew stands above what launchers guess."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.triage.decoding.times import first_time_s, last_time_s
from diagnostics.triage.readers.log_text import doctors_word, logs_in, text_of, tracker_ids
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "ups-doctor-log"
CLAIMS = {
    "The job ended well": Claim.FINISHED,
    "The job crashed": Claim.FAILED,
    "The job hung": Claim.HUNG,
    "The job claims success": Claim.LIED,
    "The job trained wrongly": Claim.FAILED,
    "The job is slow": Claim.FINISHED,
    "The job was interrupted": Claim.KILLED,
    "The job was ended by the doctor": Claim.KILLED,
    "Nothing shows that the job failed": Claim.NOTHING,
}
FAULTS = (Claim.FAILED, Claim.HUNG, Claim.LIED)
_REPORT = re.compile(r"^  report: (.{1,1000}?)/report\.md", re.MULTILINE)
CUT = "ended the job while it went on"  # a note of the verdict, whatever else is said


def find(folder: Folder) -> Iterator[Path]:
    """Yields logs in which the doctor says how a job ended."""
    for path in logs_in(folder):
        if doctors_word(text_of(path)):
            yield path


def _watched(path: Path, text: str) -> tuple[str, ...]:
    """Returns the folder of the run that a log names, where it is there: seen from the log's folder, or one above."""
    found = _REPORT.search(text)
    if found is None:
        return ()
    named = found[1].strip("'")
    folders = (above / named for above in (path.parent, *path.parent.parents[:2]))
    return tuple(str(folder) for folder in folders if (folder / "record" / "job.json").is_file())[:1]


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the run of a log, by the last verdict in it."""
    text = text_of(path)
    word = doctors_word(text)
    if word is None:  # it was written to since
        return
    said = Claim.KILLED if CUT in text[word.end() :] else CLAIMS[word["outcome"]]
    about = word["behind"].partition(": ")[2].partition("\x1b")[0].strip()
    names = (*tracker_ids(text), *_watched(path, text[word.end() :]))
    yield RunTrace(
        source=KIND, path=str(path), run_id=path.stem, aliases=names, is_tracker=False,
        started_s=first_time_s(text), last_sign_s=last_time_s(text) or path.stat().st_mtime, said=said,
        said_words=f"the log says 'ups-doctor: {word['outcome']}'", error=about if said in FAULTS else "",
    )  # fmt: skip
