"""Marks as a table, totals, misses in words, JSON. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from zoo_judgement import Judgement

_MARKS = {True: "ok", False: "MISS", None: "-"}
HEAD = (
    f"{'program':24} {'class':22} {'outcome':7} {'class':5} {'rank':5} {'line':6} {'exit':5} {'alarm':5} "
    f"{'s':>5}   | bare: exit rank line"
)


def row(verdict: Judgement) -> str:
    """Returns one line of the table."""
    line = "listed" if verdict.line is False and verdict.line_listed else _MARKS[verdict.line]
    took_s = verdict.watched.to_report_s
    return (
        f"{verdict.label:24.24} {verdict.truth.failure_class:22} {_MARKS[verdict.outcome]:7} "
        f"{_MARKS[verdict.failure_class]:5} {_MARKS[verdict.ranks]:5} {line:6} {_MARKS[verdict.exit_code]:5} "
        f"{'FALSE' if verdict.false_alarm else '':5} {'' if took_s is None else format(took_s, '.1f'):>5}   "
        f"| {_bare(verdict)}"
    )


def _bare(verdict: Judgement) -> str:
    bare = verdict.bare
    if bare is None:
        return ""
    if verdict.truth.healthy:
        return f"{bare.exit_code!s:>4}"
    rank, line = _bare_rank(verdict), "summary" if bare.line_in_summary else "output" if bare.line_in_output else "no"
    return f"{bare.exit_code!s:>4} {_MARKS[rank]:4} {line}"


def _bare_rank(verdict: Judgement) -> bool | None:
    """Whether torchrun blamed a rank that is to blame; None where no rank is."""
    if verdict.bare is None or not verdict.truth.culprit_ranks:
        return None
    return verdict.bare.blamed_rank in verdict.truth.culprit_ranks


def shares(verdicts: Iterable[Judgement]) -> dict[str, float | None]:
    """Returns the share of right answers of each column, None where it was never asked."""
    verdicts = list(verdicts)
    columns: dict[str, list[bool | None]] = {
        "outcome": [verdict.outcome for verdict in verdicts],
        "class": [verdict.failure_class for verdict in verdicts],
        "rank": [verdict.ranks for verdict in verdicts],
        "line": [verdict.line for verdict in verdicts],
        "exit code": [verdict.exit_code for verdict in verdicts],
    }
    return {what: _share(marks) for what, marks in columns.items()}


def seconds_to_report(verdicts: Iterable[Judgement]) -> dict[str, list[float]]:
    """Returns the seconds to the report of the faulty programs, by what they are counted from."""
    seconds: dict[str, list[float]] = {"death": [], "proved hang": [], "other hang": []}
    for verdict in verdicts:
        took_s = verdict.watched.to_report_s
        if not verdict.truth.healthy and took_s is not None:
            seconds[_counted_from(verdict)].append(took_s)
    return seconds


def _counted_from(verdict: Judgement) -> str:
    if verdict.watched.proved:
        return "proved hang"
    return "other hang" if verdict.truth.outcome == "hang" else "death"


def totals(verdicts: list[Judgement]) -> list[str]:
    """Returns the totals, the doctor's beside the launcher's."""
    faulty = [verdict for verdict in verdicts if not verdict.truth.healthy]
    programs = {verdict.truth.name: verdict.truth.healthy for verdict in verdicts}
    lines = [f"{list(programs.values()).count(False)} faulty programs, {sum(programs.values())} healthy ones"]
    said = [f"{what} {_percent(share)}" for what, share in shares(verdicts).items()]
    listed = _share([verdict.line_listed for verdict in faulty])
    near = _share([verdict.line_near for verdict in faulty])
    lines.append(
        f"doctor:   {', '.join(said)}, line within two lines {_percent(near)}, among those named {_percent(listed)}"
    )
    if any(verdict.bare for verdict in verdicts):
        bare = [verdict for verdict in faulty if verdict.bare is not None]
        # A launcher's only outcome is its exit code: it tells a failure where that is not 0.
        noticed = _share([verdict.bare.exit_code != 0 for verdict in bare if verdict.bare])
        summary = _share([verdict.bare.line_in_summary for verdict in bare if verdict.bare and verdict.truth.lines])
        output = _share([verdict.bare.line_in_output for verdict in bare if verdict.bare and verdict.truth.lines])
        ranks = _share([_bare_rank(verdict) for verdict in bare])
        lines.append(
            f"launcher: failure noticed {_percent(noticed)}, class 0 %, rank {_percent(ranks)}, line in its summary "
            f"{_percent(summary)}, line anywhere in the output {_percent(output)}"
        )
    lines.append(f"false alarms: {sum(bool(verdict.false_alarm) for verdict in verdicts)}")
    sure = [verdict.confirmed for verdict in verdicts if verdict.confirmed is not None]
    if sure:
        lines.append(f"stated as confirmed: {len(sure)}, all of it right: {sum(sure)} ({_percent(_share(sure))})")
    for what, took in seconds_to_report(verdicts).items():
        if took:
            longest = f"longest {max(took):.1f} ({len(took)} runs)"
            lines.append(f"seconds from {what} to report: median {statistics.median(took):.1f}, {longest}")
    return [*lines, *_runs_of_each(verdicts)]


def _runs_of_each(verdicts: Iterable[Judgement]) -> list[str]:
    """Returns, where programs were run several times, how often each was told right."""
    by_name: dict[str, list[Judgement]] = {}
    for verdict in verdicts:
        by_name.setdefault(verdict.truth.name, []).append(verdict)
    return [
        f"{name}: {sum(run.all_right for run in runs)} of {len(runs)} runs right, "
        f"{sum(bool(run.false_alarm) for run in runs)} false alarms"
        for name, runs in by_name.items()
        if len(runs) > 1
    ]


def misses(verdicts: Iterable[Judgement]) -> list[str]:
    """Returns what was wrong with each answer, in words."""
    lines = []
    for verdict in verdicts:
        if verdict.all_right:
            continue
        report = verdict.watched.report
        lines += ["", f"{verdict.label}: {verdict.truth.form}"]
        lines += [f"    {wrong}" for wrong in verdict.wrong]
        if report:
            codes = " ".join(f"{finding['code']}({finding['role']})" for finding in report.get("findings", ()))
            lines += [f"    said: {report.get('root_cause')}", f"    findings: {codes or 'none'}"]
            lines += [f"    locations: {', '.join(report.get('locations') or ()) or 'none'}"]
        else:
            lines += [f"    | {line}" for line in verdict.watched.output.splitlines()[-8:]]
    return lines


def as_json(verdicts: Iterable[Judgement], skipped: Mapping[str, str]) -> dict[str, Any]:
    """Returns all marks as plain values."""
    verdicts = list(verdicts)
    programs = {
        verdict.label: {
            "class": verdict.truth.failure_class,
            "form": verdict.truth.form,
            "outcome_right": verdict.outcome,
            "class_right": verdict.failure_class,
            "rank_right": verdict.ranks,
            "line_right": verdict.line,
            "line_near": verdict.line_near,
            "line_listed": verdict.line_listed,
            "exit_code_right": verdict.exit_code,
            "false_alarm": verdict.false_alarm,
            "seconds_to_report": verdict.watched.to_report_s,
            "proved": verdict.watched.proved,
            "detection_s": (verdict.watched.report.get("seconds") or {}).get("detection"),
            "watched_s": verdict.watched.seconds,
            "bare_s": verdict.bare.seconds if verdict.bare else None,
            "bare_exit_code": verdict.bare.exit_code if verdict.bare else None,
            "bare_rank": verdict.bare.blamed_rank if verdict.bare else None,
            "wrong": list(verdict.wrong),
        }
        for verdict in verdicts
    }
    return {"shares": shares(verdicts), "programs": programs, "skipped": dict(skipped)}


def _share(marks: Iterable[bool | None]) -> float | None:
    asked = [mark for mark in marks if mark is not None]
    return sum(asked) / len(asked) if asked else None


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
