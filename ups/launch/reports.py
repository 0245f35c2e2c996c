"""What each rank leaves for the launcher: one small JSON file, rewritten as the rank goes on.

An exit code says little: a launcher sees 1 from the rank that failed and 1 from those whose connection
then broke. The report tells them apart, and it is the proof behind the word "completed".
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "UPS_REPORT_DIR"
STOPPED = "stopped"  # the state of a rank that was asked to stop, and did after a checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class RankReport:
    """How far a rank came: `state` is running, finished, stopped or failed.

    `lost_peer` marks what followed another rank's failure.
    """

    rank: int
    state: str
    pid: int = field(default_factory=os.getpid)
    time: float = field(default_factory=time.time)
    error: str = ""
    hint: str = ""
    code: int = 0  # what this rank is about to exit with
    lost_peer: bool = False
    refused: bool = False  # nothing was wrong with the run itself: what it was given was refused
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Optimizer steps over all stages of this run."""
        return sum(int(stage["steps"]) for stage in self.result.get("stages", {}).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A rank's process as the launcher saw it end; a signal is a negative code."""

    rank: int
    exit_code: int
    report: RankReport | None

    @property
    def code(self) -> int:
        """Its own code: the launcher may end a rank that has failed already, before it exits by itself."""
        failed = self.report is not None and self.report.state == "failed"
        if failed and self.exit_code == -signal.SIGTERM and self.report is not None:
            return self.report.code
        return self.exit_code


def write(report: RankReport, environ: Mapping[str, str] = os.environ) -> None:
    """Leaves the report in the launcher's folder; without a launcher of ours there is nobody to read it."""
    folder = environ.get(FOLDER_VARIABLE)
    # A rank that was still starting when its launcher was stopped finds the folder gone, and nobody to read it.
    if folder is None or not Path(folder).is_dir():
        return
    path = Path(folder) / f"rank-{report.rank}.json"
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_text(json.dumps(asdict(report)), encoding="utf-8")
        temporary.replace(path)
    except FileNotFoundError:
        if Path(folder).is_dir():
            raise


def read(folder: Path, rank: int) -> RankReport | None:
    """Returns a rank's last report, None if it never wrote one."""
    path = folder / f"rank-{rank}.json"
    return RankReport(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def first_failure(ended: Sequence[Ended]) -> Ended | None:
    """Returns the rank that failed first; None if none did.

    A rank killed by a signal outranks one that raised, and one that raised by itself outranks one that
    lost its peer: a lost connection always follows something. Among equals the earliest report decides.
    """

    def order(one: Ended) -> tuple[int, float, int]:
        report = one.report
        followed = report is not None and report.lost_peer
        ended_by_launcher = one.code == -signal.SIGTERM
        rank_of_cause = 2 if followed else 3 if ended_by_launcher else 0 if one.code < 0 else 1
        return rank_of_cause, report.time if report is not None else 0.0, one.rank

    return min((one for one in ended if one.exit_code != 0), key=order, default=None)


def shell_code(exit_code: int) -> int:
    """Returns the code a shell would show: 128 + N for signal N."""
    return 128 - exit_code if exit_code < 0 else exit_code
