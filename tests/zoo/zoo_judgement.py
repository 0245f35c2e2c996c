"""What was right and what was wrong in one answer of the doctor."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoo_runs import Bare, Watched
from zoo_truth import Truth

EXIT_OF_HIDDEN_CRASH = 70
EXIT_OF_HANG = 124
NEAR_LINES = 2
# The programs of the zoo have no files of such names.
_FOREIGN = re.compile(
    r"diagnostics/(?:agent|children)/|sitecustomize\.py|<(?!stdin)|/lib(?:64)?/python3\.\d+/(?!(?:site|dist)-packages/)"
    r"|/bin/(?:torchrun|accelerate|deepspeed)\b|-packages/(?:torch/|accelerate/(?:commands|utils/launch)|deepspeed/launcher)"
)
_BROKEN = re.compile(r"signature \S{1,80}(?: \S{1,80})?: [A-Z]\w{2,40}: ")  # it raised, and its answer is lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Marks for one program; None where the question does not arise."""

    truth: Truth
    bare: Bare | None
    watched: Watched
    outcome: bool
    failure_class: bool | None
    ranks: bool | None
    line: bool | None
    line_near: bool | None  # within two lines of a right one
    line_listed: bool | None  # among all the lines that the report names
    foreign: tuple[str, ...]  # named places that are never one: the doctor's, a launcher's, the interpreter's
    broken: tuple[str, ...]  # signatures that raised: the report lacks their answers
    confirmed: bool | None  # whether all marks of what is stated as confirmed are right; None where nothing is
    exit_code: bool
    false_alarm: str  # what was said about a healthy program, "" where nothing was
    wrong: tuple[str, ...]  # in words
    run: int = 1

    @property
    def label(self) -> str:
        """The program, and which run of it where it is not the first."""
        return self.truth.name if self.run == 1 else f"{self.truth.name}#{self.run}"

    @property
    def all_right(self) -> bool:
        """Whether nothing is to be said against the answer."""
        return not self.wrong


def judge(truth: Truth, watched: Watched, bare: Bare | None, run: int = 1) -> Judgement:
    """Returns the marks of one answer."""
    report = watched.report
    wrong = list(watched.trouble)

    def mark(what: str, right: bool, found: Any, wanted: Any) -> bool:
        if not right:
            wrong.append(f"{what}: {found!r}, should be {wanted!r}")
        return right

    outcome = mark("outcome", report.get("outcome") == truth.outcome, report.get("outcome"), truth.outcome)
    failure_class = ranks = line = near = listed = None
    alarm = ""
    if truth.healthy:
        alarm = _alarm(report) if report else ""
        if alarm:
            wrong.append(f"false alarm: {alarm}")
    else:
        found = report.get("failure_class")
        classes = (truth.failure_class, *truth.classes_also)
        failure_class = mark("class", found in classes, found, " or ".join(classes))
        blamed = tuple(sorted(report.get("culprit_ranks") or ()))
        fits = bool(report) and blamed in (truth.culprit_ranks, *truth.culprits_also)
        ranks = mark("ranks", fits, blamed, truth.culprit_ranks)
        if truth.lines:
            location = report.get("location")
            line = mark("line", location in truth.lines, location, " or ".join(truth.lines))
            near = any(_is_near(location or "", right) for right in truth.lines)
            listed = any(place in truth.lines for place in report.get("locations") or ())
    foreign = tuple(place for place in _places(report) if _FOREIGN.search(place))
    mark("places", not foreign, foreign, "files of the job")
    broken = tuple(note for note in report.get("not_captured") or () if _BROKEN.match(note))
    mark("signatures", not broken, broken, "no one that raises")
    right = all(one is not False for one in (outcome, failure_class, ranks, line)) and not alarm
    confirmed = right if report.get("confidence") == "confirmed" and report.get("outcome") != "ok" else None
    codes = _right_codes(truth, report, bare)
    code = mark("exit code", watched.exit_code in codes, watched.exit_code, " or ".join(map(str, sorted(codes))))
    return Judgement(
        truth=truth, bare=bare, watched=watched, outcome=outcome, failure_class=failure_class, ranks=ranks, line=line,
        line_near=near, line_listed=listed, foreign=foreign, broken=broken, confirmed=confirmed,
        exit_code=code, false_alarm=alarm, wrong=tuple(wrong),
        run=run,
    )  # fmt: skip


def _is_near(location: str, right: str) -> bool:
    """Whether a place is at most two lines away from a right one, in its file."""
    (file, _, line), (right_file, _, right_line) = location.rpartition(":"), right.rpartition(":")
    return file == right_file and line.isdigit() and abs(int(line) - int(right_line)) <= NEAR_LINES


def _places(report: Mapping[str, Any]) -> list[str]:
    """Returns all that a report shows as the place of something."""
    found = [report.get("location") or "", *(report.get("locations") or ())]
    found += [finding.get("where") or "" for finding in report.get("findings") or ()]
    found += [row.get("place") or "" for row in report.get("standing") or ()]
    return [*found, *(entry.get("location") or "" for entry in report.get("timeline") or ())]


def _alarm(report: Mapping[str, Any]) -> str:
    if report.get("outcome") != "ok":
        return f"outcome {report.get('outcome')}: {report.get('root_cause')}"
    errors = [
        finding for finding in report.get("findings", ()) if (finding["severity"], finding["role"]) == ("error", "root")
    ]
    return "; ".join(f"{finding['code']} {finding['title']}" for finding in errors)


def _right_codes(truth: Truth, report: Mapping[str, Any], bare: Bare | None) -> set[int]:
    """Returns the codes the doctor may end with, by the rule of the product."""
    own = set(truth.exit_codes)
    if not own and bare is not None and bare.exit_code is not None:
        own = {bare.exit_code}
    if not own and isinstance(report.get("job_exit_code"), int):
        own = {report["job_exit_code"]}
    if truth.outcome == "hang":
        return {EXIT_OF_HANG}
    if truth.outcome == "crash":
        return {128 + truth.signal} if truth.signal else {code or EXIT_OF_HIDDEN_CRASH for code in own}
    return own
