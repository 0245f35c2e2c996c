"""The doctor's own folders: report.json of a watched job, or its record where no report was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from diagnostics.core.wording import signal_name
from diagnostics.record import untrusted_files
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.supervisor_facts import MEASURED, SupervisorFacts
from diagnostics.triage.decoding.times import iso_s
from diagnostics.triage.readers.log_text import tracker_ids
from diagnostics.triage.trace import Claim, Folder, RunTrace

KIND = "ups-doctor"
OWNS = True
HANG, SILENT = "hang", "silent-wrong"  # outcomes of report.json
NO_REPORT = "the doctor wrote no report: ups-doctor diagnose makes one"


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
    took = (report.get("seconds") or {}).get("job", facts.ended_s if facts else None)
    ended = started + took if started and isinstance(took, (int, float)) else None
    asked = facts is not None and facts.asked_to_end and not report.get("provisional")
    cut = asked and report.get("outcome") in ("ok", "slow")
    said, words = _of_report(report, cut) if report else _of_facts(facts)
    code = report.get("job_exit_code", facts.exit_code if facts else None)
    steps = [row.get("last_step") for row in ranks if isinstance(row.get("last_step"), int)]
    yield RunTrace(
        source=KIND, path=str(path), run_id=path.name, aliases=tracker_ids(output), is_tracker=False,
        program=str(report.get("command", "")), started_s=started, ended_s=ended,
        last_sign_s=ended or (path / "record" / "job.json").stat().st_mtime,
        runtime_s=float(took) if isinstance(took, (int, float)) else None, world_size=len(ranks) or None,
        last_step=max(steps, default=None), exit_code=code if isinstance(code, int) else None,
        signal=facts.signal if facts else None, said=said, said_words=words,
        error=_error(report), environment=dict(report.get("environment") or {}),
        notes=() if report or facts is None or facts.ended_by == MEASURED else (NO_REPORT,),
    )  # fmt: skip


def _of_report(report: Mapping[str, Any], cut: bool) -> tuple[Claim, str]:
    """Returns what a report claims, and its words."""
    outcome, code = report.get("outcome"), report.get("job_exit_code")
    if cut:
        how = report.get("exit_code_reason", "")
        return Claim.KILLED, f"the doctor's report says that it was ended while it went on: {how}"
    words = f"the doctor's report says {outcome} ({report.get('failure_class')})"
    if outcome is None or report.get("provisional"):
        return Claim.NOTHING, words
    if outcome == HANG:
        return Claim.HUNG, words
    if outcome == SILENT:
        return Claim.LIED if code == 0 else Claim.FAILED, words
    return Claim.FINISHED if outcome in ("ok", "slow") and code == 0 else Claim.FAILED, words


def _of_facts(facts: SupervisorFacts | None) -> tuple[Claim, str]:
    """Returns what the supervisor wrote down about the end, where there is no report; perf writes none."""
    if facts is None or facts.ended_s is None:
        return Claim.NOTHING, ""
    if facts.ended_by == MEASURED:
        return Claim.MEASURED, "it went well until `ups-doctor perf` had measured it, and ended it"
    if facts.ended_for_hanging:
        return Claim.HUNG, f"the doctor ended it, since it made no progress ({facts.ended_by})"
    if facts.asked_to_end:
        return Claim.KILLED, f"the doctor's record says that it was asked to end ({facts.ended_by})"
    if facts.signal is not None:
        return Claim.FAILED, f"the doctor's record says that it died of {signal_name(facts.signal)}"
    if facts.exit_code is None:
        return Claim.NOTHING, ""
    how = f"the doctor's record says that it ended with exit code {facts.exit_code}"
    return Claim.FAILED if facts.exit_code else Claim.FINISHED, how


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
