"""The report of a repair under reports/: report.md with files before and after, report.json with every file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diagnostics.cache.repair.actions import FileOutcome, FilePlan
from diagnostics.cache.repair.engine import Prepared, RepairResult
from diagnostics.cache.repair.plan import Census
from diagnostics.cache.repair.terminal import done_line, now_line, shown
from diagnostics.cache.scan.terminal import in_bytes
from diagnostics.core import redaction
from diagnostics.core.errors import from_os_error
from diagnostics.core.files import new_folder, write_whole
from diagnostics.core.findings import to_json
from diagnostics.core.markdown import code, inline, page, table
from diagnostics.core.shell_quoting import pasteable
from diagnostics.report import html_page

LISTED_FILES = 500  # in report.md; report.json names all


def fix_json(prepared: Prepared, result: RepairResult | None, exit_code: int) -> dict[str, Any]:
    """Returns the plan and, where it was carried out, the result as plain JSON values, schema 1."""
    plan = prepared.plan
    body: dict[str, Any] = {
        "schema": 1,
        "kind": "fix-cache",
        "exit_code": exit_code,
        "roots": list(plan.roots.paths),
        "before": to_json(plan.census),
        "plan": [_plan_json(file) for file in plan.files],
        "needs": to_json(prepared.needs),
        "jobs": prepared.jobs,
        "estimated_s": round(prepared.estimated_s, 3),
        "scan_s": round(prepared.seconds, 3),
    }
    if result is not None:
        body |= {
            "after": to_json(result.after.census) if result.after else None,
            "outcomes": [_outcome_json(outcome) for outcome in result.outcomes],
            "seconds": round(result.seconds, 3),
            "interrupted": result.interrupted,
        }
    answer: dict[str, Any] = redaction.json_value(body)
    return answer


def _plan_json(file: FilePlan) -> dict[str, Any]:
    names = ("path", "action", "problems", "devices", "why", "note", "commands", "target", "also", "written", "grows")
    return {**{name: to_json(getattr(file, name)) for name in names}, "size": file.identity.size}


def _outcome_json(outcome: FileOutcome) -> dict[str, Any]:
    return {
        "path": outcome.plan.path,
        "action": str(outcome.plan.action),
        "status": str(outcome.status),
        "text": outcome.text,
        "written": outcome.written,
        "seconds": round(outcome.seconds, 6),
        "target": outcome.plan.target,
        "backup": outcome.backup,
    }


def write_report(parent: Path, prepared: Prepared, result: RepairResult) -> str:
    """Writes the report below `parent` and returns one line: where it is, or why there is none."""
    try:
        folder = new_folder(parent, kind="fix-cache")
        write_whole(folder / "report.json", json.dumps(fix_json(prepared, result, result.exit_code), indent=1) + "\n")
        write_whole(folder / "report.md", markdown(prepared, result))
        no_page = html_page.write_beside(folder / "report.md")
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=parent)
        return f"no report was written: {refused.message}" + (f" ({refused.hint})" if refused.hint else "")
    return html_page.place_line(pasteable(folder / "report.md"), no_page)


def markdown(prepared: Prepared, result: RepairResult) -> str:
    """Returns the report as Markdown that reads well in a terminal, too."""
    lines = ["# Repair of cache files", "", inline(f"{done_line(result)}."), ""]
    if result.interrupted:
        lines += ["Stopped by Ctrl-C: each file is whole, old or new. Run the command again to go on.", ""]
    lines += [f"Looked at: {', '.join(code(shown(path)) for path in prepared.plan.roots.paths[:20])}", ""]
    if result.after:
        before, after = prepared.plan.census, result.after.census
        lines += [inline(f"{now_line(before, after)}."), ""]
        lines += ["## Before and after", "", *_compared(before, after), ""]
    if result.left:
        lines += ["## Not made right", "", *_listed(result.left), ""]
    if result.done:
        lines += ["## Done", "", *_listed(result.done), ""]
    return page(lines)


def _compared(before: Census, after: Census) -> list[str]:
    rows = [
        ["cache files", f"{before.cache_files:,}", f"{after.cache_files:,}"],
        ["their size", in_bytes(before.bytes), in_bytes(after.bytes)],
        ["bad files", f"{before.bad:,}", f"{after.bad:,}"],
    ]
    rows += _counts("files that name ", before.devices, after.devices)
    rows += _counts("", before.problems, after.problems)
    rows += _counts("warning ", before.warnings, after.warnings)
    return table(["", "before", "after"], rows, numbers=(1, 2))


def _counts(label: str, before: dict[str, int], after: dict[str, int]) -> list[list[str]]:
    return [
        [inline(f"{label}{name}"), f"{before.get(name, 0):,}", f"{after.get(name, 0):,}"]
        for name in sorted({*before, *after})
    ]


def _listed(outcomes: list[FileOutcome]) -> list[str]:
    rows = [
        [
            code(shown(outcome.plan.path)),
            str(outcome.plan.action),
            inline(_told(outcome)),
            in_bytes(outcome.written),
            f"{outcome.seconds:.3f}",
        ]
        for outcome in outcomes[:LISTED_FILES]
    ]
    rest = len(outcomes) - LISTED_FILES
    more = ["", f"and {rest:,} more: report.json names all"] if rest > 0 else []
    return [*table(["file", "action", "what", "written", "seconds"], rows, numbers=(3, 4)), *more]


def _told(outcome: FileOutcome) -> str:
    plan = outcome.plan
    said = [outcome.text or plan.why, plan.note]
    said += [f"now {shown(plan.target)}"] * bool(plan.target and not outcome.text)
    said += [f"backup {shown(outcome.backup)}"] * bool(outcome.backup)
    said += plan.commands
    return "; ".join(part for part in said if part)
