"""What one host left in the shared folder, or that it left nothing but its name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diagnostics.core.errors import UsageError
from diagnostics.core.shell_quoting import pasteable
from diagnostics.record import untrusted_files
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.supervisor_facts import SupervisorFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """One doctor's part. `report` is None where there is none: the host came and never brought one."""

    path: str
    host: str
    pid: int = 0
    run_id: str = ""
    started_s: float = 0.0
    job_began_s: float | None = None
    job_ended_s: float | None = None
    addresses: tuple[str, ...] = ()
    report: Mapping[str, Any] | None = None
    world_size: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict)  # user file -> hash of its text

    @property
    def ranks(self) -> tuple[int, ...]:
        """Its ranks, as torch numbers them; Slurm's task numbers are others."""
        there = [row for row in rows(self) if row.get("pid", 0) is not None]  # without those that never started
        return tuple(sorted(row["rank"] for row in there if isinstance(row.get("rank"), int)))


def rows(report: HostReport) -> Sequence[Mapping[str, Any]]:
    """Returns the rows of its ranks."""
    found = (report.report or {}).get("ranks")
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def read_hosts(folders: Sequence[Path]) -> tuple[HostReport, ...]:
    """Returns what each folder holds; of one that holds folders of hosts, these. Raises UsageError for none."""
    found = []
    for folder in folders:
        below = list(_below(folder))
        if not below:
            raise _no_report(folder)
        found += below
    return tuple(sorted(found, key=lambda one: (one.host, one.started_s, one.path)))


def is_shared(folder: Path) -> bool:
    """Whether a folder holds folders of hosts."""
    return folder.is_dir() and any(folder.glob("*/host.json"))


def _no_report(folder: Path) -> UsageError:
    shown = pasteable(folder)
    if (folder / "record").is_dir():
        hint = f"make it: ups-doctor diagnose {shown}"
        return UsageError(f"{folder} holds a record and no report of it yet", hint=hint)
    return UsageError(
        f"no host's report is in {folder}",
        hint="ups-doctor run --share SHARED -- CMD on each host, then ups-doctor diagnose SHARED",
    )


def _below(folder: Path) -> Iterator[HostReport]:
    if is_shared(folder):
        for one in sorted(folder.iterdir()):
            yield from _read(one)
    else:
        yield from _read(folder)


def _read(folder: Path) -> Iterator[HostReport]:
    facts, report = _object(folder / "host.json"), _object(folder / "report.json")
    if not facts and report.get("kind") != "run":
        return
    listed = report.get("ranks") if isinstance(report.get("ranks"), list) else []
    told = next((row["host"] for row in listed or () if isinstance(row, dict) and row.get("host")), folder.name)
    job, _ = untrusted_files.read_job(folder / "record" / "job.json")
    began = job.started_ns / 1e9 if job else None
    started = facts.get("started_s", began)
    given = facts.get("addresses")
    yield HostReport(
        path=str(folder), host=str(facts.get("host") or told), pid=int(facts.get("pid") or 0),
        run_id=str(facts.get("run_id") or ""), started_s=float(started) if isinstance(started, (int, float)) else 0.0,
        addresses=tuple(map(str, given)) if isinstance(given, list) else (),
        report=report if report.get("kind") == "run" else None, world_size=_world_size(job),
        job_began_s=began, job_ended_s=began + job.ended_s if job and began and job.ended_s is not None else None,
        sources=_sources(folder / "record" / "sources"),
    )  # fmt: skip


def _world_size(facts: SupervisorFacts | None) -> int | None:
    sizes = [process.variables.get("WORLD_SIZE", "") for process in facts.processes] if facts else []
    return max((int(size) for size in sizes if size.isdigit() and len(size) < 8), default=None)


def _sources(folder: Path) -> dict[str, str]:
    """Returns {path on its host: hash} of the user's files that the record kept."""
    index = _object(folder / "index.json")
    found = {}
    for where, name in index.items():
        try:
            found[where] = hashlib.sha256(untrusted_files.read_bytes(folder / Path(str(name)).name)).hexdigest()
        except (OSError, AgentFileError):
            continue
    return found


def _object(path: Path) -> dict[str, Any]:
    try:
        value = untrusted_files.read_json(path)
    except (OSError, ValueError, AgentFileError):
        return {}
    return value if isinstance(value, dict) else {}
