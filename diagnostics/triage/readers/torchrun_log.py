"""Logs of torchrun: which rank ended how, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from diagnostics.record.launcher_log import read_launcher_log
from diagnostics.triage.decoding.times import first_time_s, last_time_s
from diagnostics.triage.readers.common import error_words
from diagnostics.triage.readers.log_text import (
    claim_of_success,
    end_words,
    interruption,
    logs_in,
    own_errors,
    text_of,
    tracker_ids,
)
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "torchrun"
_MARKS = ("torch/distributed/elastic", "torch.distributed.elastic", "torch/distributed/run.py", "torchrun")
_WORLD = re.compile(r"\bMEMBER: \d{1,6}/(\d{1,6})|--nproc[-_]per[-_]node[= ](\d{1,5})|world_size[=: ]+(\d{1,6})", re.I)


def find(folder: Folder) -> Iterator[Path]:
    """Yields logs in which torchrun speaks."""
    for path in logs_in(folder):
        if any(mark in text_of(path) for mark in _MARKS):
            yield path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the run of a log; its first failed rank by the launcher's summary, its error by the rank's own words."""
    text = text_of(path)
    log = read_launcher_log(text)
    bad = [end for end in log.ends if (end.exit_code or end.signal) and end.pid not in log.closed]
    first = bad[0] if bad else None
    worlds = [int(number) for found in _WORLD.findall(text) for number in found if number]
    error = error_words(own_errors(text))
    done = "" if bad else claim_of_success(text)
    ended = "" if bad else interruption(text)
    yield RunTrace(
        source=KIND, path=str(path), run_id=path.stem, aliases=tracker_ids(text), is_tracker=False,
        started_s=first_time_s(text), last_sign_s=last_time_s(text) or path.stat().st_mtime,
        world_size=max(worlds, default=None), pid=None, rank=first.rank if first else None,
        exit_code=first.exit_code if first else None, signal=first.signal if first else None,
        said=Claim.FAILED if bad else Claim.KILLED if ended else Claim.FINISHED if done else Claim.NOTHING,
        said_words=end_words(bad) if bad else ended or (f"the log says '{done}'" if done else ""), error=error,
        notes=(f"the log says '{done}'",) if ended and done else (),
    )  # fmt: skip
