"""The table of a triage, and its rows as plain JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.findings import Confidence
from diagnostics.core.wording import hanging
from diagnostics.triage.contrasts import Contrast, Pattern
from diagnostics.triage.decoding.times import shown_duration, shown_time
from diagnostics.triage.engine import JudgedRun, Triage
from diagnostics.triage.run import DIED, RunFate

HEAD = ("run", "started (UTC)", "ranks", "state", "rows", "runtime", "crash point", "verdict")
NUMBERS = (2, 4, 5)
SCHEMA = 1


def cells(row: JudgedRun) -> tuple[str, ...]:
    """Returns one line of the table."""
    run = row.run
    verdict = row.judgement.fate + ("" if row.judgement.confidence is Confidence.CONFIRMED else " (likely)")
    return (
        redaction.line(run.name)[:40], shown_time(run.started_s), str(run.world_size or ""), run.state, _rows(row),
        shown_duration(run.runtime_s), crash_point(row), verdict,
    )  # fmt: skip


def _rows(row: JudgedRun) -> str:
    if row.run.rows is None:
        return ""
    lower_bound = row.judgement.fate in DIED and not row.run.rows_are_all
    return f"{row.run.rows}{' on disk' if lower_bound else ''}"


def crash_point(row: JudgedRun) -> str:
    """Returns where a run that died did: a lower bound where its tracker may have lost rows in a buffer."""
    run, fate = row.run, row.judgement.fate
    if fate not in DIED or fate in (RunFate.FINISHED_EMPTY, RunFate.LIES):
        return ""
    if not run.rows and run.last_step is None:
        return "before the first row" if run.rows_are_all else "before the first row on disk"
    step = run.last_step if run.last_step is not None else f"row {run.rows}"
    return f"after step {step}" if run.rows_are_all else f"at or after step {step}"


def evidence(row: JudgedRun) -> list[str]:
    """Returns what a verdict rests on, with what is against taking it for more than it is."""
    said = list(row.judgement.evidence)
    if row.judgement.fate in DIED and row.run.rows is not None and not row.run.rows_are_all:
        said.append(
            "the tracker writes rows in blocks: those of its last seconds may be lost, the crash point is a lower bound"
        )
    said += [note for trace in row.run.traces for note in trace.notes]
    return [redaction.line(text) for text in dict.fromkeys(said)]


def pattern_lines(pattern: Pattern) -> list[str]:
    """Returns a pattern as sentences."""
    lines = [f"{pattern.words}{f': {pattern.why_none}' if pattern.why_none else ''}"]
    for one in pattern.contrasts:
        lines.append(f"  {_contrast(one)}")
    return [redaction.line(line) for line in lines]


def _contrast(one: Contrast) -> str:
    bad, good = one.with_it
    other_bad, other_good = one.without_it
    first, *alike = one.settings
    more = f" (parts them alike: {', '.join(alike)})" if alike else ""
    return (
        f"{first}{more}: {bad} of {bad + good} with it, {other_bad} of {other_bad + other_good} without; "
        f"{one.stand_for} runs for, {one.stand_against} against; by chance in {one.chance:.2g}"
    )


def lines(found: Triage, *, width: int = 0) -> list[str]:
    """Returns the table for a terminal, the evidence of all that are not well, and the patterns.

    `width` is that of the terminal; 0 where it is none, and no line is broken.
    """
    shown = _table([cells(row) for row in found.rows], width)
    bad = [row for row in found.rows if row.judgement.fate in DIED]
    for row in bad[:20]:
        shown += ["", f"{redaction.line(row.run.name)}: {row.judgement.fate}"]
        shown += [line for text in evidence(row) for line in hanging("  ", text, width)]
    shown += [f"  ... and {len(bad) - 20} more: --json or --html has all"] if len(bad) > 20 else []
    for pattern in found.patterns:
        first, *more = pattern_lines(pattern)
        shown += ["", *hanging("", first, width)]
        shown += [line for text in more for line in hanging("  ", text.strip(), width)]
    shown.append("")
    for one in found.unread[:10]:
        shown += hanging("not read: ", redaction.line(one), width)
    return [*shown, *hanging("", summary(found.rows, found.seconds), width)]


def _table(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """Returns the rows in columns, where these fit; else one below the other, what is known of each below its name."""
    sizes = [max(len(one[column]) for one in [HEAD, *rows]) for column in range(len(HEAD))]
    if width and sum(sizes) + 2 * (len(sizes) - 1) > width:
        return [line for row in rows for line in _upright(row, width)]
    return [
        "  ".join(
            cell.rjust(size) if column in NUMBERS else cell.ljust(size)
            for column, (cell, size) in enumerate(zip(one, sizes, strict=True))
        ).rstrip()
        for one in [HEAD, *rows]
    ]


def _upright(row: tuple[str, ...], width: int) -> list[str]:
    (_, name), *known, (_, verdict) = zip(HEAD, row, strict=True)
    told = ", ".join(f"{head.removesuffix(' (UTC)')} {cell}" for head, cell in known if cell)
    return [*hanging("", f"{name}: {verdict}", width), *(hanging("    ", told, width) if told else [])]


def summary(rows: Sequence[JudgedRun], seconds: float) -> str:
    """Returns "9 runs: 7 crashed, 2 finished (0.3 s)"."""
    counts = Counter(row.judgement.fate.value for row in rows)
    told = ", ".join(f"{count} {fate}" for fate, count in counts.most_common())
    return f"{len(rows)} run{'s' * (len(rows) != 1)}: {told} ({seconds:.1f} s)"


def as_json(found: Triage) -> dict[str, Any]:
    """Returns the whole answer as plain JSON; secrets are hidden."""
    value = {
        "schema": SCHEMA,
        "kind": "triage",
        "runs": [_json_row(row) for row in found.rows],
        "patterns": [
            {
                "words": one.words, "why_none": one.why_none,
                "contrasts": [
                    {"settings": list(part.settings), "with": list(part.with_it), "without": list(part.without_it),
                     "for": part.stand_for, "against": part.stand_against, "chance": part.chance}
                    for part in one.contrasts
                ],
            }
            for one in found.patterns
        ],
        "unread": list(found.unread),
        "seconds": round(found.seconds, 3),
    }  # fmt: skip
    hidden: dict[str, Any] = redaction.json_value(value)
    return hidden


def _json_row(row: JudgedRun) -> dict[str, Any]:
    run = row.run
    return {
        "run": run.name, "started_s": run.started_s, "ranks": run.world_size, "state": run.state, "rows": run.rows,
        "rows_are_all": run.rows_are_all, "runtime_s": run.runtime_s, "last_step": run.last_step,
        "crash_point": crash_point(row), "verdict": row.judgement.fate.value,
        "confidence": row.judgement.confidence.value, "same_as": row.judgement.same_as, "evidence": evidence(row),
        "host": run.host, "sources": [{"source": trace.source, "path": trace.path} for trace in run.traces],
        "settings": run.settings,
    }  # fmt: skip


def places(row: JudgedRun) -> list[str]:
    """Returns where a run was read from."""
    return [f"{trace.source}: {Path(trace.path)}" for trace in row.run.traces]
