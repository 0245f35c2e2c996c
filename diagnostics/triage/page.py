"""A triage as one page, in Markdown or HTML; neither needs anything beside itself."""

from __future__ import annotations

from html import escape

from diagnostics.core.console import printable_line
from diagnostics.core.markdown import inline, page, table
from diagnostics.triage.decoding.times import shown_time
from diagnostics.triage.engine import Triage
from diagnostics.triage.run import DIED
from diagnostics.triage.table import HEAD, NUMBERS, cells, evidence, pattern_lines, places, summary

MOST_TOLD = 50
STYLE = (
    "body{font:14px sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse}"
    "td,th{border-bottom:1px solid #ccc;padding:.2em .7em;text-align:left}tr.bad td:last-child{font-weight:bold}"
    "li{margin:.2em 0}small{color:#666}"
)


def markdown(found: Triage) -> str:
    """Returns the page."""
    lines = ["# Triage", "", inline(summary(found.rows, found.seconds)), ""]
    lines += table(HEAD, [[inline(cell) for cell in cells(row)] for row in found.rows], numbers=NUMBERS)
    if found.patterns:
        lines += ["", "## What those that died have in common", ""]
        for pattern in found.patterns:
            first, *more = pattern_lines(pattern)
            lines += [f"- {inline(first)}", *(f"  - {inline(one.strip())}" for one in more)]
        lines += ["", "Counts of runs, not causes: what parts them may go along with what killed them."]
    bad = [row for row in found.rows if row.judgement.fate in DIED]
    if bad:
        lines += ["", "## Evidence", ""]
        for row in bad[:MOST_TOLD]:
            lines += [
                f"- {inline(row.run.name)}: {row.judgement.fate}",
                *(f"  - {inline(one)}" for one in evidence(row)),
            ]
        lines += [f"- ... and {len(bad) - MOST_TOLD} more"] if len(bad) > MOST_TOLD else []
    lines += ["", f"Made {shown_time(found.now_s)} UTC by ups-doctor triage."]
    return page(lines)


def html(found: Triage) -> str:
    """Returns the same as one file of HTML, with the evidence of every run."""
    rows = []
    for row in found.rows:
        told = "".join(f"<li>{_text(one)}</li>" for one in [*evidence(row), *places(row)])
        *plain, verdict = (f"<td>{_text(cell)}</td>" for cell in cells(row))
        fold = f"<td><details><summary>{verdict[4:-5]}</summary><ul>{told}</ul></details></td>"
        mark = ' class="bad"' if row.judgement.fate in DIED else ""
        rows.append(f"<tr{mark}>{''.join(plain)}{fold}</tr>")
    head = "".join(f"<th>{_text(name)}</th>" for name in HEAD)
    common = "".join(f"<li>{_text(line)}</li>" for pattern in found.patterns for line in pattern_lines(pattern))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Triage</title><style>{STYLE}</style>'
        f"<h1>Triage</h1><p>{_text(summary(found.rows, found.seconds))}</p><ul>{common}</ul>"
        f"<table><tr>{head}</tr>{''.join(rows)}</table>"
        f"<p><small>Made {shown_time(found.now_s)} UTC by ups-doctor triage.</small></p></html>\n"
    )


def _text(text: str) -> str:
    return escape(printable_line(text))
