"""The doctor's own folders: report.json of a watched job, or its record where no report was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from diagnostics.record import untrusted_files
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.triage.decoding.times import iso_s
from diagnostics.triage.readers.log_text import tracker_ids
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "ups-doctor"
OWNS = True
SILENT = "silent-wrong"  # an outcome of report.json


def find(folder: Folder) -> Iterator[Path]:
    """Yields a folder with a record of a job in it."""
    if "record" in folder.folders and (folder.path / "record" / "job.json").is_file():
        yield folder.path


def read(path: Path) -> Iterator[RunTrace]:
    """Yields the watched job, as its report tells it; without one, as the supervisor saw it."""
    facts, _ = untrusted_files.read_job(path / "record" / "job.json")
    report = _report(path / "report.json")
    ranks = report.get("ranks") or ()
    output = _output(path / "record" / "output" / "all.txt")
    started = (facts.started_ns / 1e9 if facts and facts.started_ns else None) or iso_s(str(report.get("started", "")))
    took = (report.get("seconds") or {}).get("job")
    ended = started + took if started and isinstance(took, (int, float)) else None
    cut = facts is not None and facts.asked_to_end and report.get("outcome") in ("ok", "slow")
    code = report.get("job_exit_code", facts.exit_code if facts else None)
    steps = [row.get("last_step") for row in ranks if isinstance(row.get("last_step"), int)]
    yield RunTrace(
        source=KIND, path=str(path), run_id=path.name, aliases=tracker_ids(output), is_tracker=False,
        program=str(report.get("command", "")), started_s=started, ended_s=ended,
        last_sign_s=ended or (path / "record" / "job.json").stat().st_mtime,
        runtime_s=float(took) if isinstance(took, (int, float)) else None, world_size=len(ranks) or None,
        last_step=max(steps, default=None), exit_code=code if isinstance(code, int) else None,
        signal=facts.signal if facts else None, said=_said(report, cut), said_words=_words(report, cut),
        error=_error(report), environment=dict(report.get("environment") or {}),
        notes=() if report else ("the doctor wrote no report: ups-doctor diagnose makes one",),
    )  # fmt: skip


def _said(report: Mapping[str, Any], cut: bool) -> Claim:
    outcome = report.get("outcome")
    if outcome is None or report.get("provisional"):
        return Claim.NOTHING
    if cut:
        return Claim.KILLED
    if outcome == SILENT:
        return Claim.LIED if report.get("job_exit_code") == 0 else Claim.FAILED
    return Claim.FINISHED if outcome in ("ok", "slow") and report.get("job_exit_code") == 0 else Claim.FAILED


def _words(report: Mapping[str, Any], cut: bool) -> str:
    if not report:
        return ""
    if cut:
        return f"the doctor's report says that it was ended while it went on: {report.get('exit_code_reason', '')}"
    return f"the doctor's report says {report.get('outcome')} ({report.get('failure_class')})"


def _error(report: Mapping[str, Any]) -> str:
    if report.get("outcome") in (None, "ok", "slow") or report.get("provisional"):  # `attach`: it runs on
        return ""
    place = f" ({report['location']})" if report.get("location") else ""
    return f"{report.get('root_cause', '')}{place}"[:300]


def _report(path: Path) -> dict[str, Any]:
    try:
        value = untrusted_files.read_json(path)
    except FileNotFoundError:
        return {}
    except AgentFileError as error:
        raise ValueError(str(error)) from error
    return value if isinstance(value, dict) and value.get("kind") == "run" else {}


def _output(path: Path) -> str:
    try:
        return untrusted_files.read_output(path)
    except (OSError, AgentFileError):
        return ""
