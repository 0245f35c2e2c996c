"""A diagnosis that comes to its end, whatever the job wrote and whichever signature is stuck.

It goes on in a copy of this process (machine/execution/forked.py), since neither a loop in C nor one that catches
everything can be interrupted from inside. The copy says which signature it asks and what that one said. One that takes
too long costs its own answer: the copy is ended, and the next one does not ask it, nor those that have answered. Where
no time is left, no further one is asked and the report rests on what was said until then.
"""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diagnostics.core.errors import DoctorError
from diagnostics.core.thresholds import Thresholds, read_thresholds
from diagnostics.diagnosis.engine import Questioning, examine, examine_logs, examine_record, write_report
from diagnostics.diagnosis.signature import Match
from diagnostics.machine.execution.forked import TOLD, Forked, NoAnswerError
from diagnostics.record.record import RunRecord
from diagnostics.report.run_report import RunReport

ASKING_SHARE = 0.75  # of all time; the rest is for what was said: deciding and filling the report
WHOLE_S = 1.0  # for the rest of an answer that has begun to come
CLOSED = "not asked: no time was left"
HINT = "the record is whole; try again on a machine that has less to do: ups-doctor diagnose FOLDER"


class NoDiagnosisError(DoctorError):
    """The diagnosis itself came to no end; the record is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Haste:
    """What may end a diagnosis early: `until_s` says until when (time.monotonic()), None for no haste.

    It is asked again whenever a descriptor of `wake` can be read.
    """

    until_s: Callable[[], float | None] = lambda: None
    wake: Sequence[int] = ()


def diagnose_in_time(
    folder: Path,
    *,
    provisional: bool = False,
    strict: bool = False,
    limits: Thresholds | None = None,
    haste: Haste | None = None,
    earlier: Mapping[str, Match | None] | None = None,
) -> tuple[RunReport, str]:
    """As `diagnose`, within the limits; with "" or why there is no report.html. Raises NoDiagnosisError too.

    `earlier` are answers that stand for signatures which there is no time to ask.
    """
    report = _in_time(
        lambda asking: examine(folder, provisional=provisional, strict=strict, asking=asking),
        limits,
        haste,
        earlier or {},
    )
    return report, write_report(report, folder.parent if folder.name == "record" else folder)


def examine_in_time(
    folder: Path | None,
    logs: Sequence[Path] = (),
    *,
    provisional: bool = False,
    limits: Thresholds | None = None,
    heard: dict[str, Match | None] | None = None,
) -> RunReport:
    """As `examine`, or `examine_logs` where there is no folder, within the limits. Raises NoDiagnosisError too.

    `heard` is given the answers of all signatures.
    """
    if folder is None:
        return _in_time(lambda asking: examine_logs(logs, asking=asking), limits, None, heard=heard)
    return _in_time(lambda asking: examine(folder, provisional=provisional, asking=asking), limits, None, heard=heard)


def examine_record_in_time(record: RunRecord) -> RunReport:
    """As `examine_record`, within the limits. Raises NoDiagnosisError too."""
    return _in_time(lambda asking: examine_record(record, asking=asking), None, None)


def _in_time(
    examined: Callable[[Questioning], RunReport],
    limits: Thresholds | None,
    haste: Haste | None,
    earlier: Mapping[str, Match | None] | None = None,
    heard: dict[str, Match | None] | None = None,
) -> RunReport:
    course = _Course(limits or _limits(), haste or Haste())
    while True:
        asking = Questioning(
            answers=course.answers, left_out=course.left_out, earlier=earlier or {}, closed=course.closed
        )
        try:
            copy = Forked(lambda send, asking=asking: _work(examined, asking, send))  # type: ignore[misc]
        except OSError:  # the job has used up what the user may start
            return examined(asking)
        with copy:
            report = course.follow(copy)
        if report is not None:
            if heard is not None:
                heard.update(course.answers)
            return report


def _limits() -> Thresholds:
    """Returns those of doctor.yaml; the built-in ones where it is wrong, which preflight says."""
    try:
        return read_thresholds()
    except (DoctorError, OSError):
        return Thresholds()


def _work(examined: Callable[[Questioning], RunReport], asking: Questioning, send: Callable[[Any], None]) -> None:
    """In the copy: examines, and says how far it has come."""

    def close(number: int, frame: object) -> None:
        asking.closed = CLOSED

    asking.tell = lambda what, code, match: send((what, (code, match)))
    signal.signal(TOLD, close)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (TOLD,))
    try:
        send(("report", examined(asking)))
    except DoctorError as error:
        send(("error", (type(error), error.message, error.hint, error.exit_code)))
    except Exception:  # a fault of ours: it is raised again where it is expected
        send(("fault", traceback.format_exc()))


@dataclass(slots=True)
class _Course:
    """How far a diagnosis has come, over all attempts."""

    limits: Thresholds
    haste: Haste
    answers: dict[str, Match | None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    closed: str = ""
    asked: str = ""  # the signature that is at work
    asked_s: float = 0.0
    close_s: float = field(init=False)  # from then on nothing more is asked
    end_s: float = field(init=False)

    def __post_init__(self) -> None:
        began = time.monotonic()
        self.end_s = began + self.limits.diagnosis_deadline_s
        self.close_s = began + ASKING_SHARE * self.limits.diagnosis_deadline_s
        self._look_at_haste()

    def follow(self, copy: Forked) -> RunReport | None:
        """Returns the report; None where another attempt is due, without the signature that was at work."""
        self.asked = ""
        try:
            while True:
                told = self._already_told(copy)
                if told is None:
                    self._look_at_haste()
                    if self._is_stuck(copy):
                        return None
                    told = copy.receive(self._next_s(), wake=self.haste.wake)
                if told is not None and (report := self._take(*told)) is not None:
                    return report
        except NoAnswerError as error:  # code in C may crash
            if not self.asked:
                raise NoDiagnosisError(f"the diagnosis came to no end: {error}", hint=HINT) from error
            self.left_out[self.asked] = str(error)
            return None

    def _already_told(self, copy: Forked) -> Any:
        """Returns what lies there, None for nothing: this process may have been stopped while the copy was not."""
        told = copy.receive(0.0)
        return copy.receive(time.monotonic() + WHOLE_S) if told is None and copy.is_telling else told

    def _take(self, what: str, said: Any) -> RunReport | None:
        if what == "report":
            report: RunReport = said
            return report
        if what == "error":
            kind, message, hint, code = said
            raise kind(message, hint=hint, exit_code=code)
        if what == "fault":
            raise RuntimeError(said)
        self.asked, self.asked_s = said[0], time.monotonic()
        if what == "answered":
            self.answers[self.asked] = said[1]
            self.asked = ""
        return None

    def _look_at_haste(self) -> None:
        until = self.haste.until_s()
        if until is not None and until < self.end_s:
            self.end_s, self.close_s = until, min(self.close_s, time.monotonic())

    def _is_stuck(self, copy: Forked) -> bool:
        """Acts on the clock: whether the signature at work has to be given up. Raises NoDiagnosisError."""
        now = time.monotonic()
        if now >= self.end_s:
            raise NoDiagnosisError("the diagnosis came to no end in time", hint=HINT)
        if now >= self.close_s:
            self.closed = CLOSED
            copy.tell()
        if self.asked and now >= self._give_up_s():
            late = f"no answer within {now - self.asked_s:.1f} s"
            self.left_out[self.asked] = late
            return True
        return False

    def _give_up_s(self) -> float:
        """When the signature at work is given up: at its own deadline, or with time left to close."""
        closing = self.close_s + (self.end_s - self.close_s) / 2
        return min(self.asked_s + self.limits.signature_deadline_s, closing)

    def _next_s(self) -> float:
        """When the clock has to be looked at again."""
        due = [self.end_s]
        if not self.closed:
            due.append(self.close_s)
        if self.asked:
            due.append(self._give_up_s())
        return min(due)
