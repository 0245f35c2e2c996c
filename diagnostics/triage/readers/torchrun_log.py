"""Logs of torchrun: which rank ended how, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.core.wording import shown_ranks, signal_name
from diagnostics.record.launcher_log import LoggedEnd, read_launcher_log
from diagnostics.record.torch_messages import is_lost_peer
from diagnostics.record.tracebacks import TracebackText, tracebacks
from diagnostics.triage.decoding.times import first_time_s, last_time_s
from diagnostics.triage.readers.common import error_words
from diagnostics.triage.readers.log_text import claim_of_success, logs_in, text_of, tracker_ids
from diagnostics.triage.trace import Folder, Said, Trace

KIND = "torchrun"
_MARKS = ("torch/distributed/elastic", "torch.distributed.elastic", "torch/distributed/run.py", "torchrun")
_WORLD = re.compile(r"\bMEMBER: \d{1,6}/(\d{1,6})|--nproc[-_]per[-_]node[= ](\d{1,5})|world_size[=: ]+(\d{1,6})", re.I)


def find(folder: Folder) -> Iterator[Path]:
    """Yields logs in which torchrun speaks."""
    for path in logs_in(folder):
        if any(mark in text_of(path) for mark in _MARKS):
            yield path


def read(path: Path) -> Iterator[Trace]:
    """Yields the run of a log; its first failed rank by the launcher's summary, its error by the rank's own words."""
    text = text_of(path)
    log = read_launcher_log(text)
    bad = [end for end in log.ends if (end.exit_code or end.signal) and end.pid not in log.closed]
    first = bad[0] if bad else None
    worlds = [int(number) for found in _WORLD.findall(text) for number in found if number]
    error = error_words(own_errors(text))
    done = "" if bad else claim_of_success(text)
    yield Trace(
        source=KIND, path=str(path), run_id=path.stem, aliases=tracker_ids(text), is_tracker=False,
        started_s=first_time_s(text), last_sign_s=last_time_s(text) or path.stat().st_mtime,
        world_size=max(worlds, default=None), pid=None, rank=first.rank if first else None,
        exit_code=first.exit_code if first else None, signal=first.signal if first else None,
        said=Said.FAILED if bad else Said.FINISHED if done else Said.NOTHING,
        said_words=end_words(bad) if bad else f"the log says '{done}'" if done else "", error=error,
    )  # fmt: skip


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
