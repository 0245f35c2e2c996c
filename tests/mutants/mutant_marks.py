"""What one answer is worth: held against the truth of the mutant and against what it did when it ran bare."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mutant_draws import Mutant
from mutant_runs import Run, same_output
from operators import CRASH, HANG, SILENT

EXIT_OF_HIDDEN_CRASH = 70
EXIT_OF_HANG = 124
LISTED = 3  # locations that somebody looks at
_MASKED = frozenset({"masked-exit"})
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_ABORTED = re.compile(r"SIGABRT|exitcode\s*: -6\b")
_BLAMED = re.compile(r"rank\s*:\s*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """One answer's marks; None where the question does not arise."""

    mutant: Mutant
    shown: str  # what the mutant did when it ran bare: crash, hang or silent
    outcome: bool | None
    failure_class: bool | None
    ranks: bool | None
    line: bool | None
    line_listed: bool | None
    exit_code: bool | None
    seconds: float | None
    said: str
    bare_noticed: bool
    bare_rank: bool
    bare_line: bool
    wrong: tuple[str, ...] = ()


def shown(mutant: Mutant, bare: Run) -> str:
    """Returns what a mutant does when nothing watches it; "" where that is nothing its operator is meant to do."""
    if bare.exit_code is None:
        outcome = HANG
    elif bare.exit_code or mutant.classes.get(CRASH) == _MASKED:
        outcome = CRASH
    else:
        outcome = SILENT
    if mutant.classes.get(CRASH) == _MASKED and "Traceback" not in bare.output:
        return ""
    return outcome if outcome in mutant.classes else ""


def judge(mutant: Mutant, outcome: str, bare: Run, answer: Run) -> Marks:
    """Returns the marks of a tool's answer; of what it printed where it wrote no report.json."""
    said = _said(answer)
    wrong: list[str] = []

    def mark(what: str, right: bool, found: Any, wanted: Any) -> bool:
        if not right:
            wrong.append(f"{what}: {found!r}, should be {wanted!r}")
        return right

    classes = mutant.classes[outcome]
    wanted = "silent-wrong" if outcome == SILENT else outcome
    codes = _codes(mutant, outcome, bare)
    output = _from_output(bare)
    locations = said["locations"]
    found = said["failure_class"]
    blamed = tuple(sorted(said["culprit_ranks"]))
    first = locations[0] if locations else None
    return Marks(
        mutant=mutant,
        shown=outcome,
        outcome=mark("outcome", said["outcome"] == wanted, said["outcome"], wanted),
        failure_class=mark("class", found in classes, found, " or ".join(sorted(classes))),
        ranks=mark("ranks", blamed in mutant.ranks, blamed, mutant.ranks[0]),
        line=mark("line", first in mutant.lines, first, mutant.lines) if mutant.lines else None,
        line_listed=any(place in mutant.lines for place in locations[:LISTED]) if mutant.lines else None,
        exit_code=mark("exit code", answer.exit_code in codes, answer.exit_code, sorted(codes)),
        seconds=answer.to_report_s,
        said=str(said["root_cause"]),
        bare_noticed=bool(bare.exit_code),
        bare_rank=tuple(output["culprit_ranks"]) in mutant.ranks,
        bare_line=bool(output["locations"]) and output["locations"][0] in mutant.lines,
        wrong=tuple(wrong),
    )


def alarm(bare: Run, watched: Run) -> str:
    """Returns what is to be said against the tool on a healthy program; "" is nothing."""
    wrong = []
    if bare.exit_code != 0:
        wrong.append(f"it is not healthy: it ends with {bare.exit_code} by itself")
    if watched.exit_code != bare.exit_code:
        wrong.append(f"exit code {watched.exit_code}, by itself {bare.exit_code}")
    if not same_output(bare.stdout, watched.stdout):
        wrong.append("another standard output")
    if watched.report and watched.report.get("outcome") != "ok":
        wrong.append(f"outcome {watched.report.get('outcome')}: {watched.report.get('root_cause')}")
    return "; ".join(wrong)


def _said(answer: Run) -> Mapping[str, Any]:
    if not answer.report:
        return _from_output(answer)
    report = answer.report
    places = [report.get("location"), *(report.get("locations") or ())]
    return {
        "outcome": report.get("outcome"),
        "failure_class": report.get("failure_class"),
        "culprit_ranks": report.get("culprit_ranks") or (),
        "locations": list(dict.fromkeys(one for one in places if one)),
        "root_cause": report.get("root_cause"),
    }


def _from_output(run: Run) -> Mapping[str, Any]:
    """Returns what a launcher's output says: its table's rank, its last traceback's lines, innermost first."""
    table = run.output[run.output.rfind("Root Cause") :] if "Root Cause" in run.output else ""
    blamed = _BLAMED.search(table)
    trace = run.output[run.output.rfind("Traceback (most recent call last)") :] if "Traceback" in run.output else ""
    if "torch/distributed/elastic" in trace or "ChildFailedError" in trace:  # the launcher's own
        ranks = run.output[: run.output.rfind("Traceback (most recent call last)")]
        trace = ranks[ranks.rfind("Traceback (most recent call last)") :] if "Traceback" in ranks else ""
    frames = [f"{file.rpartition('/job/')[2]}:{line}" for file, line in _FRAME.findall(trace) if "/job/" in file]
    return {
        "outcome": CRASH if run.exit_code else None,
        "failure_class": None,
        "culprit_ranks": (int(blamed[1]),) if blamed else (),
        "locations": list(reversed(frames)),
        "root_cause": "",
    }


def _codes(mutant: Mutant, outcome: str, bare: Run) -> set[int | None]:
    """Returns the codes that a tool may end with, by the rule of the product."""
    if outcome == HANG:
        return {EXIT_OF_HANG}
    if outcome == CRASH:
        if mutant.signal:
            return {128 + mutant.signal}
        # gloo aborts a rank whose peer sent another size: 128 + 6, whatever a launcher makes of it.
        aborted = {128 + signal.SIGABRT} if _ABORTED.search(bare.output) else set()
        return {bare.exit_code or EXIT_OF_HIDDEN_CRASH, *aborted}
    return {bare.exit_code}
