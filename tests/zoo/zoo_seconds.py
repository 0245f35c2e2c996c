"""How long a report took: from the failure, or from when the job stood still, to the first report after it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LOOK_APART_S = 0.05


@contextlib.contextmanager
def writings(path: Path) -> Iterator[list[int]]:
    """Yields the times at which a file was written, wall clock in ns; complete when the block is left."""
    seen: list[int] = []
    done = threading.Event()

    def look() -> None:
        with contextlib.suppress(OSError):
            at_ns = path.stat().st_mtime_ns
            if at_ns not in seen[-1:]:
                seen.append(at_ns)

    def watch() -> None:
        while not done.wait(LOOK_APART_S):
            look()

    thread = threading.Thread(target=watch, name="report-writings")
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()
        look()


def to_report_s(job: Mapping[str, Any], written_ns: Sequence[int]) -> float | None:
    """Returns the seconds from the trouble in a job.json to the first report after it, None where there is no report.

    A job that the doctor ended for hanging: from the last progress it made; the report may be a provisional one.
    Any other: from the end of the first process that failed, else from its own end.
    """
    hung = job.get("ended_by") in ("deadlock", "stall-timeout")
    began_s = _hang_began_s(job) if hung else _failed_s(job)
    if began_s is None:
        return None
    written_s = [(at_ns - job["started_ns"]) / 1e9 for at_ns in written_ns]
    return next((at_s - began_s for at_s in written_s if at_s >= began_s), None)


def _hang_began_s(job: Mapping[str, Any]) -> float | None:
    proved = job.get("proved") or ()
    if job.get("ended_by") == "deadlock" and proved:
        return float(proved[-1]["began_s"])
    lasting = [stall["began_s"] for stall in job.get("stalls", ()) if stall.get("over_s") is None]
    return lasting[-1] if lasting else None


def _failed_s(job: Mapping[str, Any]) -> float | None:
    ends = [process["end"] for process in job.get("processes", ()) if process.get("end")]
    failed = [
        end["at_s"] for end in ends if (end.get("exit_code") or end.get("signal")) and end.get("at_s") is not None
    ]
    return min(failed, default=job.get("ended_s"))
