"""An experiment as lines of the terminal, as report.md and as report.json. Pure but for the two files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.files import write_whole
from diagnostics.core.findings import to_json
from diagnostics.core.markdown import block, code, inline, page, table
from diagnostics.core.own_folders import without_own_frames
from diagnostics.core.shell_quoting import pasteable
from diagnostics.parity import words
from diagnostics.parity.engine import Parity
from diagnostics.parity.request import Form
from diagnostics.report import html_page

MOST_OUTPUT = 30  # lines


def terminal_lines(found: Parity, *, verbose: bool = False) -> Iterator[str]:
    """Yields the table and what follows from it; the headline is said by the caller."""
    measured = found.measured
    if measured is not None and measured.rows:
        rows = [("quantity", "largest difference", "where", ""), *words.table(measured)]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
            yield f"  {'  '.join(cells)}  {'' if row[3] == 'same' else row[3]}".rstrip()
    for note in found.notes:
        yield f"  note   {note}"
    for one in found.remarks:
        yield f"  note   {one.code} {one.name}: {one.sentence}"
    if found.undecided:
        yield from (f"  | {line}" for line in _last_output(found))
        if found.output:
            yield f"  next   {next_step(found)}"
        return
    if measured is None or measured.same:
        return
    yield f"  first  {words.first_difference(measured)}"
    for number, one in enumerate(found.causes):
        if number:
            yield f"  also   {one.code} {one.name}: {one.sentence}"
        else:
            yield f"  why    {one.code} {one.name}{f', factor {one.factor}' if one.factor else ''}"
        if not number or verbose:
            yield from (f"  proof  {line}" for line in one.proof)
            if one.where:
                yield f"  line   {words.line_of(one)}: {words.source_of(one)}".rstrip(": ")
            yield f"  fix    {one.fix}"


def next_step(found: Parity) -> str:
    """Returns the command that says why a program hangs or dies."""
    request = found.request
    words_ = [word.replace("{nproc}", str(request.nproc)) for word in request.argv]
    if request.form is not Form.SCRIPT:
        return f"ups-doctor preflight --nproc {request.nproc}"
    launched = ["torchrun", "--standalone", "--nproc-per-node", str(request.nproc), *words_[1:]]
    typed = words_ if request.own_launch or not words_[1:2] else launched
    return f"ups-doctor run -- {redaction.line(shlex.join(typed))}"


def _last_output(found: Parity) -> list[str]:
    return [redaction.line(line) for line in without_own_frames(found.output)[-MOST_OUTPUT:]]


def markdown(found: Sequence[Parity], command: str) -> str:
    """Returns the page."""
    lines: list[str] = ["# parity", "", code(command), ""]
    for one in found:
        lines += [f"## {inline(one.request.name)}", "", inline(words.headline(one)), "", *_sections(one)]
    return page(lines)


def _sections(found: Parity) -> Iterator[str]:
    measured = found.measured
    for note in found.notes:
        yield from (inline(f"Note: {note}."), "")
    if found.undecided and found.output:
        yield from ("What was said last:", "", *block(_last_output(found)), "", f"Next: {code(next_step(found))}", "")
    if measured is None:
        return
    if not measured.same:
        yield from (f"It begins at {inline(words.first_difference(measured))}.", "")
    for one in found.explanations:
        kind = "Note: " if one.note else ""
        yield from (
            f"### {kind}{one.code} {one.name}",
            "",
            inline(f"{one.sentence[:1].upper()}{one.sentence[1:]}."),
            "",
        )
        yield from (f"- {inline(line)}" for line in one.proof)
        if one.where:
            source = words.source_of(one)
            yield f"- at {code(words.line_of(one))}{f' {code(source)}' if source else ''}"
        yield from ("", f"Fix: {inline(one.fix)}.", "")
    rows = [[inline(cell) for cell in row] for row in words.table(measured)]
    yield from ("### Largest relative differences", "")
    yield from table(["quantity", "largest difference", "where", ""], rows)
    yield from ("", _assumed(found), "")


def _assumed(found: Parity) -> str:
    request = found.request
    tolerance = found.measured.tolerance if found.measured else 0.0
    how = {
        "made": "One process trains on the whole global batches, in a plain loop.",
        "script": "One process ran the same script; its loaders gave it what those of all ranks gave, joined.",
        "adapter": "One process ran the trainer with one rank, on the global batches that it makes itself.",
    }[request.form]
    return (
        f"{how} It started from rank 0's parameters, and what the models drew at random was handed out again. "
        f"{words.precision(found)}; up to {tolerance:.0e} of the largest number of a tensor counts as the same."
    )


def json_text(found: Sequence[Parity], *, command: str, exit_code: int) -> str:
    """Returns report.json, secrets hidden."""
    body = {"schema": 1, "kind": "parity", "command": command, "exit_code": exit_code}
    experiments = [_json(one) for one in found]
    return json.dumps(redaction.json_value({**body, "experiments": experiments}), indent=1) + "\n"


def write_report(found: Sequence[Parity], folder: Path, *, command: str, exit_code: int) -> str:
    """Writes report.json and report.md; returns one line that says where. Raises OSError."""
    write_whole(folder / "report.json", json_text(found, command=command, exit_code=exit_code))
    write_whole(folder / "report.md", markdown(found, command))
    no_page = html_page.write_beside(folder / "report.md")
    return html_page.place_line(pasteable(folder / "report.md"), no_page)


def _json(found: Parity) -> dict[str, Any]:
    measured = found.measured
    return {
        "name": found.request.name,
        "headline": words.headline(found),
        "exit_code": found.exit_code,
        "ranks": found.request.nproc,
        "steps": measured.steps if measured else 0,
        "dtype": found.dtype,
        "tolerance": measured.tolerance if measured else None,
        "undecided": found.undecided,
        "notes": found.notes,
        "first": words.first_difference(measured) if measured else "",
        "explanations": to_json(found.explanations),
        "rows": to_json(measured.rows) if measured else [],
        "by_step": _steps(measured.raw.get("by_step", [])) if measured else [],
        "seconds": round(found.seconds, 2),
    }


def _steps(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns what is known of each step, without the digests of all samples."""
    return [{name: value for name, value in one.items() if not name.startswith("samples")} for one in found]
