"""What every log is asked: its text, the runs of trackers that it names, and whether it says that all went well."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from diagnostics.core.wording import shown_ranks, signal_name
from diagnostics.record import untrusted_files
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.launcher_log import LoggedEnd, signal_number
from diagnostics.record.torch_messages import is_lost_peer
from diagnostics.record.tracebacks import TracebackText, tracebacks
from diagnostics.triage.trace import Folder

LOG_ENDINGS = (".log", ".out", ".err")
_TRACKER = (
    re.compile(r"wandb\.ai/[\w.-]{1,128}/[\w.-]{1,128}/runs/([\w.-]{1,128})"),
    re.compile(r"wandb[/\\](?:offline-)?run-\d{8}_\d{6}-([\w.-]{1,128})"),
    re.compile(r"/#/experiments/\d{1,20}/runs/([0-9a-f]{32})"),  # MLflow
)
_DONE = re.compile(
    r"^.{0,80}\b(?:training|pipeline|job|run|experiment)\b.{0,40}\b(?:completed?|finished|succeeded|successful(?:ly)?|done)\b"
    r".{0,80}$",
    re.IGNORECASE | re.MULTILINE,
)
# Of the elastic agent, which ends its ranks for a signal: "SignalException: Process 7 got signal: 15".
_GOT_SIGNAL = re.compile(
    r"Process \d{1,10} got signal: (?P<number>\d{1,3})|"
    r"Received (?:(?P<sent>\d{1,3})|Signals\.(?P<name>SIG[A-Z0-9]{1,10})) death signal, shutting down workers"
)
_DOCTOR = re.compile(  # the words of report/headline.py
    r"^(?:\x1b\[[\d;]{1,8}m)?ups-doctor: (?P<outcome>The job (?:ended well|crashed|hung|claims success"
    r"|trained wrongly|is slow|was interrupted|was ended by the doctor)|Nothing shows that the job failed)"
    r"(?P<behind>.{0,300})",
    re.MULTILINE,
)
_NOT_DONE = re.compile(r"\b(?:not|un|in)[ -]?(?:completed?|finished|successful)|fail|error|until|when|if|before", re.I)


@lru_cache(maxsize=16)
def text_of(path: Path) -> str:
    """Returns a log's head and tail in lines of bounded length. Raises ValueError, OSError."""
    try:
        return untrusted_files.read_output(path)
    except AgentFileError as error:
        raise ValueError(str(error)) from error


def logs_in(folder: Folder) -> list[Path]:
    """Returns the files that may be logs: by their endings, or whatever the user named."""
    found = [folder.path / name for name in sorted(folder.names)] if folder.named else folder.files(*LOG_ENDINGS)
    return [path for path in found if path.is_file() and not path.is_symlink()]


def tracker_ids(text: str) -> tuple[str, ...]:
    """Returns the ids of runs that a text names by their address or folder."""
    return tuple(dict.fromkeys(found for pattern in _TRACKER for found in pattern.findall(text)))


def claim_of_success(text: str) -> str:
    """Returns the last line that says the training has been completed, "" for none."""
    lines = [found[0].strip() for found in _DONE.finditer(text)]
    return next((line[:120] for line in reversed(lines) if not _NOT_DONE.search(line)), "")


def doctors_word(text: str) -> re.Match[str] | None:
    """Returns the last verdict that `ups-doctor run` printed into a log: `outcome`, and what stands `behind` it."""
    return next(reversed(list(_DOCTOR.finditer(text))), None)


def interruption(text: str) -> str:
    """Returns how a log says that the job was asked to end, "" where it does not.

    torchrun says so only while no rank has failed. Of Python's own word nothing else may have been raised.
    """
    if doctors_word(text):
        return ""  # it knows whether that was the cause, and has a reader of its own
    got = next(reversed(list(_GOT_SIGNAL.finditer(text))), None)
    if got is not None:
        done = claim_of_success(text)
        number = signal_number(got["name"] or "") or int(got["number"] or got["sent"] or 0)
        return f"torchrun was sent {signal_name(number)}" if not done or text.rfind(done) < got.start() else ""
    found = tracebacks(text)
    return "it was interrupted (KeyboardInterrupt)" if found and all(map(_is_interrupt, found)) else ""


def _is_interrupt(one: TracebackText) -> bool:
    return one.type == "KeyboardInterrupt" == one.first.type


def end_words(ends: list[LoggedEnd]) -> str:
    """Returns "rank 0 ended with SIGSEGV" for the ends that a launcher told."""
    told: dict[str, list[int]] = {}
    for end in ends:
        how = signal_name(end.signal) if end.signal else f"exit code {end.exit_code}"
        told.setdefault(how, []).extend([] if end.rank is None else [end.rank])
    return "; ".join(f"{shown_ranks(ranks) if ranks else 'a process'} ended with {how}" for how, ranks in told.items())


def own_errors(text: str) -> list[TracebackText]:
    """Returns exceptions of the training itself: neither the launcher's summary, nor what a lost peer raised."""
    found = [one for one in tracebacks(text) if not one.type.endswith(("ChildFailedError", "CalledProcessError"))]
    return [one for one in found if not is_lost_peer(one.message)][:1] or found[:1]
