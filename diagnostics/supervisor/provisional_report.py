"""The report about a job that stands still: made beside the loop, and taken back by it where the job goes on.

Of a job that can never go on it is made while that job is being ended, which may take its launcher some seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.shell_quoting import pasteable
from diagnostics.diagnosis.engine import write_report
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.with_deadline import examine_in_time
from diagnostics.record.record import BEFORE
from diagnostics.record.supervisor_facts import Stall
from diagnostics.report.headline import headline
from diagnostics.report.run_report import RunReport
from diagnostics.supervisor.capture.pre_signal_state import EXPECTED, adopt_expected, drop_expected


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A report that was made shortly before its stall was one."""

    stall: Stall
    report: RunReport
    heard: Mapping[str, Match | None]


class ProvisionalReport:
    """Of one job. What is told belongs to a turn, which ends with each withdrawal: whoever is late tells nothing."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder, self._say = folder, say
        self._lock = threading.Lock()
        self._said = ""
        self._ready: _Ready | None = None
        self._wanted: Stall | None = None  # one that has come, whose report may still be in the making
        self.turn = 0
        self.answers: Mapping[str, Match | None] = {}  # of the signatures, about the state that was kept last

    def tell(self, turn: int, *, ended: bool = False) -> None:
        """Diagnoses the record as it is now; writes and says that, unless the turn has ended meanwhile.

        `ended`: the job is being ended for it.
        """
        heard: dict[str, Match | None] = {}
        report = examine_in_time(self._folder, provisional=True, heard=heard)
        with self._lock:
            if turn == self.turn:
                self._publish(report, heard, ended=ended)

    def prepare(self, turn: int, stall: Stall) -> None:
        """Diagnoses the expected state as if the stall had come, and keeps that for `want`."""
        heard: dict[str, Match | None] = {}
        report = examine_in_time(self._folder / "record" / EXPECTED, provisional=True, heard=heard)
        with self._lock:
            if turn != self.turn:
                return
            self._ready = _Ready(stall=stall, report=report, heard=heard)
            self._publish_ready()

    def want(self, stall: Stall) -> None:
        """The stall has come: writes and says what was prepared, now or as soon as it is ready."""
        with self._lock:
            self._wanted = stall
            self._publish_ready()

    def _publish_ready(self) -> None:
        ready = self._ready
        if ready is not None and ready.stall == self._wanted:
            self._ready = None
            adopt_expected(self._folder / "record")
            self._publish(ready.report, ready.heard)

    def _publish(self, report: RunReport, heard: Mapping[str, Match | None], *, ended: bool = False) -> None:
        no_page = write_report(report, self._folder)
        self.answers = {code + BEFORE: match for code, match in heard.items()}
        if headline(report) != self._said:  # once, however long the stall goes on
            self._said = headline(report)
            without = f" ({no_page})" if no_page else ""
            end = " It can never go on, and is ended." if ended else ""
            self._say(f"ups-doctor: {self._said}{end} See {pasteable(self._folder / 'report.md')}{without}")

    def withdraw(self) -> None:
        """Takes back what was told: the job goes on."""
        with self._lock:
            self.turn += 1
            self.answers = {}
            self._forget_expected()
            self._say("ups-doctor: the job goes on; the provisional report is withdrawn")
            for name in ("report.md", "report.json", "report.html"):
                (self._folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Ends the turn: the job has ended, and its last report is due. What was told stays until then."""
        with self._lock:
            self.turn += 1
            self._forget_expected()

    def _forget_expected(self) -> None:
        self._ready, self._wanted = None, None
        drop_expected(self._folder / "record")
