"""Looks at a running job for some seconds, keeps what was seen as a record, and has it diagnosed like any other.

Nothing is sent to the job, stopped in it or written into its folder. Where it runs under the agent, what the agents
have written is copied.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from diagnostics.attach.find import UNDECIDED, find_job
from diagnostics.attach.look import JobSnapshot, LookOptions, take_snapshots
from diagnostics.attach.view import folder_of, world_size_of
from diagnostics.core import redaction
from diagnostics.core.errors import DoctorError
from diagnostics.diagnosis.with_deadline import diagnose_in_time
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.stall.liveness import FILE_NAME, Liveness, assess
from diagnostics.machine.processes.process_table import TableRow, environment_of, started_ns, uses_torch
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.supervisor_facts import ATTACHED, Missing, SeenProcess, Stall, SupervisorFacts
from diagnostics.record.untrusted_files import read_bytes
from diagnostics.report.run_report import RunReport
from diagnostics.supervisor.capture.run_folder import RunFolder, open_run_folder
from diagnostics.supervisor.capture.sampling import StallSamples
from diagnostics.supervisor.capture.snapshot import keep_json, snapshot
from diagnostics.supervisor.capture.sources import collect_sources
from diagnostics.supervisor.hang.progress import waits_for_orders

PAUSE_S = 0.5  # between two looks
SAMPLES_APART_S = 1.5
LEAST_LOOKS = 3
_MOST_AGENTS = 512
_RANKS_ASKED = 8  # whether torch is in their memory
_DIR = "UPS_DOCTOR_DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """What came of it. `problem` says why the report is not where it was asked for, `no_page` why it has no page."""

    report: RunReport
    looked: JobSnapshot
    folder: Path
    problem: str = ""
    no_page: str = ""


def attach(pid: int, *, seconds: float, report_dir: Path | None, show: Callable[[str], None]) -> Attached:
    """Looks at the job of `pid` and writes its report.

    Raises UsageError where there is no such job, DoctorError where it ended meanwhile or may not be looked at, OSError
    where no folder can be made at all.
    """
    job = find_job(pid)
    place = open_run_folder(report_dir, kind="attach")
    began_ns = started_ns(job.tops[0].start_ticks)
    samples = _Samples(place.record, {row.pid: row.start_ticks for row in job.members}, began_ns)
    looked = take_snapshots(job, LookOptions(seconds=seconds, looks=LEAST_LOOKS, pause_s=PAUSE_S), show, samples.take)
    if len(looked.ended) == len(looked.standings):
        shutil.rmtree(place.folder, ignore_errors=True)  # ours, and there is nothing to tell
        raise DoctorError(f"the job of pid {pid} ended while it was looked at", exit_code=UNDECIDED)
    show("capturing")
    alive = [one for one in looked.standings if one.pid not in looked.ended]
    ranks_first = sorted(alive, key=lambda one: one.part is not ProcessRole.RANK)
    ticks = {row.pid: row.start_ticks for row in job.members}
    missing = [*looked.missing, *snapshot({one.pid: ticks[one.pid] for one in ranks_first}, place.record, "attach")]
    missing += _copy_agents(looked, place)
    if looked.refused:  # what stands in `looked` says it once, with the remedy
        missing = [one for one in missing if one in looked.missing or "stacks" not in one.what]
    judgement = _judge(looked)
    missing += keep_json(
        place.record / "captures" / FILE_NAME,
        {**asdict(judgement), "seconds": round(looked.seconds, 3), "processes": _moves(looked)},
    )
    facts = _facts(looked, judgement, began_ns, missing)
    _write_facts(place, facts)
    argvs = [row.argv for row in job.members]
    gaps = collect_sources(place.record, Path(facts.cwd or "/"), argvs)
    if gaps:
        _write_facts(place, replace(facts, missing=(*facts.missing, *gaps)))
    show("diagnosing")
    report, no_page = diagnose_in_time(place.folder, provisional=True)
    return Attached(report=report, looked=looked, folder=place.folder, problem=place.problem, no_page=no_page)


class _Samples:
    """The samples that diagnosis reads, taken between our own looks."""

    def __init__(self, record: Path, processes: dict[int, int], began_ns: int) -> None:
        self._samples, self._processes, self._began_ns = StallSamples(record), processes, began_ns
        self._next = 0.0

    def take(self) -> None:
        """Takes one where the last is old enough."""
        if time.monotonic() >= self._next:
            self._samples.take(self._processes, self._now)
            self._next = time.monotonic() + SAMPLES_APART_S

    def _now(self) -> float:
        return (time.time_ns() - self._began_ns) / 1e9


def _judge(looked: JobSnapshot) -> Liveness:
    argvs = [row.argv for row in looked.job.members]
    ranks = [one for one in looked.standings if one.part is ProcessRole.RANK]
    trains = any(uses_torch(one.pid) for one in ranks[:_RANKS_ASKED]) and not any(map(waits_for_orders, argvs))
    return assess(
        looked.standings, seconds=looked.seconds, cwd=folder_of(looked), trains=trains, world_size=world_size_of(looked)
    )


def _facts(looked: JobSnapshot, judgement: Liveness, began_ns: int, missing: Sequence[Missing]) -> SupervisorFacts:
    job, now_s = looked.job, (time.time_ns() - began_ns) / 1e9
    first = next((one.pid for one in looked.standings if one.part is ProcessRole.RANK), job.tops[0].pid)
    stall = Stall(began_s=round(max(0.0, now_s - looked.seconds), 3), seen_s=round(now_s, 3))
    return SupervisorFacts(
        command=redaction.argv(job.tops[0].argv),
        cwd=folder_of(looked),
        started_ns=began_ns,
        ended_by=ATTACHED,
        processes=tuple(
            SeenProcess(
                pid=row.pid,
                start_ticks=row.start_ticks,
                ppid=row.ppid,
                argv=redaction.argv(row.argv),
                variables=_variables(looked, row),
                first_seen_s=round(max(0.0, (started_ns(row.start_ticks) - began_ns) / 1e9), 3),
            )
            for row in job.members
        ),
        stalls=(stall,) if judgement.still else (),
        variables=redaction.environment(environment_of(first)),
        missing=tuple(dict.fromkeys(missing)),
    )


def _variables(looked: JobSnapshot, row: TableRow) -> dict[str, str]:
    assumed = {"RANK": str(looked.ranks[row.pid])} if row.pid in looked.ranks else {}
    return {**row.variables, **assumed}


def _moves(looked: JobSnapshot) -> dict[str, object]:
    return {str(one.pid): asdict(one.moved) for one in looked.standings}


def _write_facts(place: RunFolder, facts: SupervisorFacts) -> None:
    keep_json(place.record / "job.json", asdict(facts))


def _copy_agents(looked: JobSnapshot, place: RunFolder) -> list[Missing]:
    """Copies what agents have written about these very processes; their folder is read and nothing else."""
    missing: list[Missing] = []
    for row in looked.job.members[:_MOST_AGENTS]:
        folder = row.variables.get(_DIR)
        if not folder:
            continue
        for path in sorted(Path(folder).glob(f"agent-{row.pid}-{row.start_ticks}*.bin")):
            try:
                data = read_bytes(path)
                (place.agents / path.name).write_bytes(data)
            except (AgentFileError, OSError) as error:
                missing.append(Missing(what=f"agent of pid {row.pid}", why=str(error)))
    return missing
