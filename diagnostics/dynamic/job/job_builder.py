"""Makes one Case of what a job left behind. Pure: it gets plain values and reads no file but the job's sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import Homes
from diagnostics.dynamic.job.attribution import blame
from diagnostics.dynamic.job.exceptions import exceptions_of, handled_of, loads_of
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.last_activity import LastActivity, last_activity
from diagnostics.dynamic.job.marked_output import failures_apart, lines_by_rank
from diagnostics.dynamic.job.process_list import MergedProcess, merge_processes
from diagnostics.dynamic.job.process_roles import ProcessRoles
from diagnostics.dynamic.job.rank_inference import script_of
from diagnostics.dynamic.job.stack_classifier import is_data_worker
from diagnostics.dynamic.job.terminations import EndAttribution, EndEvidence, sent_by_job, termination_of
from diagnostics.record.agent_data import AgentData, homes_of
from diagnostics.record.flight_recorder import FlightEntry
from diagnostics.record.gdb_report import parse_core_text
from diagnostics.record.launcher_log import read_launcher_log
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.process_samples import FILE_NAME as SAMPLES
from diagnostics.record.process_samples import Sample, samples_of
from diagnostics.record.stacks import AgentStacks, FaulthandlerLog, parse_outside_stacks
from diagnostics.record.step_stacks import FILE_NAME as STEP_STACKS
from diagnostics.record.step_stacks import SeenStack, step_stacks_of
from diagnostics.record.supervisor_facts import End, SupervisorFacts
from diagnostics.record.tracebacks import tracebacks
from diagnostics.record.usage import FILE_NAME as USAGE
from diagnostics.record.usage import usage_of
from diagnostics.static.program.source_file import SourceStore

SOURCE_SUFFIXES = frozenset(
    {
        ".py",
        ".pyx",
        ".sh",
        ".bash",
        ".zsh",
        ".slurm",
        ".sbatch",
        ".mk",
        ".yaml",
        ".yml",
        ".toml",
        ".json",
        ".cfg",
        ".ini",
    }
)
ALL_OUTPUT = "all.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInputs:
    """What a Case is made of. `faults` by the name of the agent's file, texts by the name of their file."""

    job: SupervisorFacts | None
    agents: tuple[AgentData, ...]
    faults: Mapping[str, FaulthandlerLog]
    outputs: Mapping[str, str] = field(default_factory=dict)
    captures: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    flights: Mapping[str, tuple[FlightEntry, ...]] = field(default_factory=dict)  # by "PID-START"
    frames: Mapping[str, AgentStacks] = field(default_factory=dict)
    prints: Mapping[str, ParameterPrints] = field(default_factory=dict)


def build_job(material: JobInputs, *, ended: bool = True) -> Job:
    """Returns the model of a job. `ended` is False while it runs."""
    job = material.job or _job_of_agents(material.agents)
    output = material.outputs.get(ALL_OUTPUT, "")
    log = read_launcher_log(output)
    told = EndEvidence(faults=material.faults, log=log)
    all_merged = merge_processes(job, material.agents)
    parts = ProcessRoles(all_merged, log)
    ends = {id(merged): termination_of(merged, job, parts, told) for merged in all_merged}
    sent = sent_by_job(all_merged, job)
    enders = EndAttribution(job, parts, ends, sent, all_merged, log)
    restarts = _restarts(all_merged, parts)
    homes = homes_of(material.agents)
    samples = samples_of(material.captures.get(SAMPLES, ""), homes)
    step_stacks = step_stacks_of(material.captures.get(STEP_STACKS, ""), homes)
    marked = _marked(output, all_merged, parts) or _in_order(output, all_merged, parts, ends)
    processes = tuple(
        _process(
            merged, job, parts, ends[id(merged)], enders, restarts[id(merged)], material, samples, step_stacks, homes,
            marked.get(id(merged), ""),
        )
        for merged in all_merged
    )  # fmt: skip
    culprits, victims = blame(processes, output)
    ranks = _last_of_each_rank(processes)
    return Job(
        facts=_with_end(job, processes) if ended else job,
        processes=processes,
        ranks=ranks,
        culprits=culprits,
        victims=victims,
        sent=sent,
        output=output,
        output_by_rank={
            process.rank: process.output for process in ranks if process.rank is not None and process.output
        },
        sources=SourceStore(job.cwd, material.sources, SOURCE_SUFFIXES),
        homes=homes,
        usage=usage_of(material.captures.get(USAGE, "")),
        extra={name: text for name, text in material.captures.items() if not _is_read(name)},
    )


def _process(
    process: MergedProcess,
    job: SupervisorFacts,
    parts: ProcessRoles,
    end: End,
    enders: EndAttribution,
    restart: int,
    material: JobInputs,
    samples: Mapping[tuple[int, int], tuple[Sample, ...]],
    step_stacks: Mapping[str, tuple[SeenStack, ...]],
    homes: Homes,
    marked: str,
) -> JobProcess:
    stem = f"{process.pid}-{process.start_ticks}"
    stdout, stderr = (material.outputs.get(f"{stem}.{name}.txt", "") for name in ("stdout", "stderr"))
    stderr = stderr or ("" if stdout else marked)
    fault = material.faults.get(process.agent.name) if process.agent is not None else None
    failed = end.signal is not None or end.exit_code not in (0, None)
    raised = exceptions_of(process, job, stderr or stdout, end.at_s, failed=failed, homes=homes)
    if not any(one.how is ExceptionSource.HELD for one in raised):  # else its agent saw when it came
        folder = process.agent.agent_folder if process.agent is not None else ""
        raised = (*handled_of(material.frames.get(stem), folder), *raised)
    stacks = _stacks(material.captures.get(f"stacks-from-outside-{process.pid}.json", ""), homes)
    part, rank = parts.part(process), parts.rank(process)
    owner = parts.parent(process)
    if part is ProcessRole.HELPER and owner is not None and stacks and is_data_worker(stacks[0]):  # no agent told
        part, rank = ProcessRole.DATA_WORKER, parts.rank(owner)
    return JobProcess(
        pid=process.pid,
        start_ticks=process.start_ticks,
        parent_pid=process.parent_pid,
        argv=process.argv,
        cwd=process.cwd,
        part=part,
        rank=rank,
        restart=restart,
        began_s=process.began_s,
        end=end,
        ended_by=enders.ended_by(process),
        agent=process.agent,
        fault=fault,
        death=_death(process, fault, end, raised) if failed else None,
        raised=raised,
        loads=loads_of(process, job),
        stdout=stdout,
        stderr=stderr,
        stacks=stacks,
        samples=samples.get((process.pid, process.start_ticks), ()),
        step_stacks=step_stacks.get(stem, ()),
        native=_native(material.captures.get(f"core-{process.pid}.txt", "")),
        threads=material.frames.get(stem),
        flight=material.flights.get(stem, ()),
        prints=material.prints.get(stem, ParameterPrints()),
    )


def _marked(output: str, processes: Sequence[MergedProcess], parts: ProcessRoles) -> dict[int, str]:
    """Returns what ranks that no agent watched wrote into the common output under their mark, by the process's id."""
    unwatched = {
        parts.rank(process): process  # the last of each rank
        for process in processes
        if process.agent is None and parts.part(process) is ProcessRole.RANK
    }
    lines = lines_by_rank(output)[0] if unwatched else {}
    return {id(process): lines[rank] for rank, process in unwatched.items() if rank is not None and rank in lines}


def _in_order(
    output: str, processes: Sequence[MergedProcess], parts: ProcessRoles, ends: Mapping[int, End]
) -> dict[int, str]:
    """Returns the failures in a common output by the process's id, where ranks without agents wrote them unmarked.

    As many as ranks failed: who ended first wrote the first. Where all are alike it does not matter whose is whose.
    """
    ranks = [one for one in processes if parts.part(one) is ProcessRole.RANK]
    failed = [one for one in ranks if ends[id(one)].signal is None and ends[id(one)].exit_code not in (0, None)]
    if len(failed) < 2 or any(one.agent is not None for one in ranks):
        return {}
    blocks = failures_apart(output)
    if len(blocks) != len(failed):
        told = {(one[-1].type, one[-1].frames) for block in blocks if (one := tracebacks(block))}
        blocks = blocks[:1] * len(failed) if len(told) == 1 else []
    by_end = sorted(failed, key=lambda one: ends[id(one)].at_s or 0.0)
    return {id(process): block for process, block in zip(by_end, blocks, strict=False)}


def _is_read(name: str) -> bool:
    """Whether a capture is handed on as values."""
    return name in (SAMPLES, USAGE, STEP_STACKS) or name.startswith("stacks-from-outside-")


def _stacks(capture: str, homes: Homes) -> tuple[tuple[Frame, ...], ...]:
    try:
        return parse_outside_stacks(capture, homes) if capture else ()
    except ValueError:  # a text that no capture of ours would hold
        return ()


def _native(capture: str) -> tuple[str, ...]:
    """Returns "libfoo.so: bar" for each native frame of the crashed thread, innermost first."""
    core = parse_core_text(capture) if capture else None
    return tuple(frame.shown for frame in core.native) if core is not None else ()


def _death(
    process: MergedProcess, fault: FaulthandlerLog | None, end: End, raised: Sequence[ExceptionRecord]
) -> LastActivity | None:
    if process.agent is None:
        return None
    ending = next(
        (
            one
            for one in reversed(raised)
            if one.how in (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN) and one.sequence
        ),
        None,
    )
    event = next((e for e in process.events if ending is not None and e.sequence == ending.sequence), None)
    return last_activity(process.agent, fault, event if end.signal is None else None)


def _restarts(processes: Sequence[MergedProcess], parts: ProcessRoles) -> dict[int, int]:
    """Returns which incarnation of its rank each process is, by id: what torchrun says, else how many came before.

    A script that runs one program after the other starts none of them again.
    """
    earlier: dict[tuple[int, str], int] = {}
    restarts = {}
    for process in processes:
        rank = parts.rank(process) if parts.part(process) is ProcessRole.RANK else None
        said = process.variables.get("TORCHELASTIC_RESTART_COUNT", "")
        program = script_of(process.argv)
        before = earlier.get((rank, program), 0) if rank is not None else 0
        restarts[id(process)] = max(before, int(said) if said.isdigit() and len(said) < 6 else 0)
        if rank is not None:
            earlier[rank, program] = before + 1
    return restarts


def _last_of_each_rank(processes: Sequence[JobProcess]) -> tuple[JobProcess, ...]:
    last = {
        process.rank: process for process in processes if process.part is ProcessRole.RANK and process.rank is not None
    }
    return tuple(last[rank] for rank in sorted(last))


def _job_of_agents(agents: Sequence[AgentData]) -> SupervisorFacts:
    """Returns the facts of a job that no supervisor watched: when and where its first process began."""
    if not agents:
        return SupervisorFacts(command=(), cwd="", started_ns=0, ended_by="unknown")
    first = min(agents, key=lambda agent: agent.started_ns)
    return SupervisorFacts(command=first.argv, cwd=first.cwd, started_ns=first.started_ns, ended_by="unknown")


def _with_end(job: SupervisorFacts, processes: Sequence[JobProcess]) -> SupervisorFacts:
    """Returns the job with the end of its first process, where the supervisor did not live to see it."""
    if job.exit_code is not None or job.signal is not None or not processes:
        return job
    first = processes[0]
    pids = {process.pid for process in processes}
    tops = [process for process in processes if process.parent_pid not in pids] or [first]
    end = tops[0].end
    code, number = end.exit_code, end.signal
    if code is None and number is None:
        failed = [process for process in _last_of_each_rank(processes) if process.failed]
        code = (failed[0].end.exit_code or 1) if failed else None
    by = "unknown" if job.ended_by == "itself" else job.ended_by
    return replace(job, exit_code=code, signal=number, ended_by=by)
