"""report.md of a bisection: the verdict first, then what the failure needs, the model, and how all that is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from diagnostics.bisection.found import Attempt, AxisRow, Bisection, Mark, SettingStatus
from diagnostics.bisection.report.module_tree import Line, lines_of
from diagnostics.bisection.report.next_step import next_step
from diagnostics.bisection.report.terminal import shown_stack
from diagnostics.bisection.report.tries_shown import result_of
from diagnostics.bisection.report.words import certainty, headline, needs, not_needed, often
from diagnostics.core.markdown import block, code, inline, page, table
from diagnostics.report.run_report import RunReport

SIGNS = {Mark.CULPRIT: "X", Mark.FAILS: "!", Mark.PASSES: "o", Mark.NOT_TRIED: "-"}
LEGEND = {
    Mark.CULPRIT: "the culprit",
    Mark.FAILS: "the failure is in here",
    Mark.PASSES: "not needed: it still fails with a stand-in in its place",
    Mark.NOT_TRIED: "not tried",
}


def markdown(report: RunReport, found: Bisection, files: list[tuple[str, str]]) -> str:
    """Returns the page; `files` are the names beside it and what they are."""
    lines = [f"# Bisection of {inline(found.name)}", "", *_verdict(report, found)]
    for title, render in SECTIONS.items():
        body = list(render(report, found))
        if body:
            lines += [f"## {title}", "", *body, ""]
    if files:
        lines += ["## Files", "", *table(("file", "what it is"), [(code(name), inline(what)) for name, what in files])]
        lines += [""]
    if report.repeat:
        lines += ["## Run it again", "", *block([report.repeat])]
    return page(lines)


def _verdict(report: RunReport, found: Bisection) -> Iterator[str]:
    yield from (f"**{inline(headline(found))}.**", "")
    if found.failure is not None:
        yield f"- what: {code(report.failure_class)}, outcome {code(report.outcome)}"
        if found.module is not None:
            yield f"- module: {code(found.module or '(the model itself)')}"
        if report.location:
            others = ", ".join(code(place) for place in report.locations[1:4])
            yield f"- where: {code(report.location)}{f', see also {others}' if others else ''}"
        yield f"- {inline(needs(found))}" if found.axes else "- which settings it needs was not looked for"
        if not_needed(found.axes):
            yield f"- makes no difference: {inline(not_needed(found.axes))}"
        if certainty(found):
            yield f"- how sure: {inline(certainty(found))}"
        if often(found):
            yield f"- how often: {often(found)} in the failing case"
        yield ""
        for excerpt in report.sources[:1]:
            yield from (*block(excerpt.lines), "")
    for note in report.notes:
        yield f"- {inline(note)}"
    if report.notes:
        yield ""
    text, commands = next_step(found)
    yield from (f"Next step: {inline(text)}", "")
    if commands:
        yield from (*block(commands), "")


def _needs(report: RunReport, found: Bisection) -> Iterator[str]:
    rows = [
        (inline(row.axis), code(row.value), code(row.other) if row.other else "", _standing(row), inline(row.note))
        for row in found.axes
        if row.standing is not SettingStatus.NOT_TRIED or row.note
    ]
    if rows:
        yield from _table(("setting", "in the failing case", "compared with", "", "seen"), rows)
    left = [row.axis for row in found.axes if row.standing is SettingStatus.NOT_TRIED and not row.note]
    if left:
        yield from ("", f"Not tried: {inline(', '.join(dict.fromkeys(left)))}.")


def _standing(row: AxisRow) -> str:
    return "undecided" if row.standing is SettingStatus.NOT_TRIED else row.standing


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns a table, without its last column where nothing stands in it."""
    kept = None if any(row[-1] for row in rows) else -1
    return table(head[:kept], [row[:kept] for row in rows])


def _strategies(report: RunReport, found: Bisection) -> Iterator[str]:
    rows = [(inline(row.way), inline(row.result), inline(row.note)) for row in found.strategies]
    if rows:
        yield from _table(("way", "result", ""), rows)


def _tree(report: RunReport, found: Bisection) -> Iterator[str]:
    lines = lines_of(found.tree)
    if not lines:
        return
    yield from ("![The module tree](tree.svg)", "")
    yield from block([_drawn(line) for line in lines])
    used = [mark for mark in LEGEND if any(line.mark is mark for line in lines)]
    yield from ("", "; ".join(f"{SIGNS[mark]} {LEGEND[mark]}" for mark in used) + ".")


def _drawn(line: Line) -> str:
    times = f"{line.count} x " if line.count > 1 else ""
    inside = f", {line.inside} modules inside" if line.inside else ""
    return f"{SIGNS[line.mark]} {'  ' * line.depth}{line.label or '(the model)'}  {times}{line.class_name}{inside}"


def _evidence(report: RunReport, found: Bisection) -> Iterator[str]:
    yield from (f"- {inline(one)}" for one in found.evidence)
    if found.failure is not None and found.failure.text:
        yield from ("", *block(shown_stack(found.failure.text)))


def _tried(report: RunReport, found: Bisection) -> Iterator[str]:
    rows = [
        (inline(one.way), inline(_result(one)), str(one.trial.runs), inline(one.trial.refusal))
        for one in found.attempts
    ]
    if rows:
        yield from table(("way of training it", "result", "runs", ""), rows, numbers=(2,))


def _result(one: Attempt) -> str:
    return f"no end in {one.trial.seconds:.0f} s, which proves nothing" if one.too_slow else result_of(one.trial)


def _versions(report: RunReport, found: Bisection) -> Iterator[str]:
    rows = [(code(row.wanted), inline(row.result), inline(row.note)) for row in found.versions]
    if rows:
        yield from _table(("environment", "result", ""), rows)


def _cost(report: RunReport, found: Bisection) -> Iterator[str]:
    tries = f"{found.tries} tries in {found.seconds:.0f} s" if found.tries else f"{found.seconds:.0f} s"
    yield f"{tries}{f', torch {inline(found.torch)}' if found.torch else ''}."


SECTIONS: dict[str, Callable[[RunReport, Bisection], Iterator[str]]] = {
    "What the failure needs": _needs,
    "Ways of training it": _strategies,
    "The model": _tree,
    "Evidence": _evidence,
    "Looking for a failing case": _tried,
    "Versions": _versions,
    "What it cost": _cost,
}
