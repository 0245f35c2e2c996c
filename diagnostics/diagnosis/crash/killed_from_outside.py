"""A signal that is no fault of its own ended a rank or the launcher.

What it does: tells who sent it: a line of another process of the job, Slurm (time limit, preemption), a terminal that
was closed (SIGHUP), a limit on processor time or file size (SIGXCPU, SIGXFSZ); else says that it came from outside.

Why it matters: a killed rank looks like a crash, and the search begins in the model.

Fix: the line that sends the signal, or the limit, or nohup.
"""

from __future__ import annotations

import re
import signal

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence, signal_name
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    interrupted_s,
    names_of,
    output_evidence,
    path_evidence,
    primary_failures,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole, SignalSent
from diagnostics.dynamic.job.signal_senders import alarms_of, frames_of, sender_of
from diagnostics.dynamic.launch.kill_commands import KillCommand, kill_command

CODE = "D221"
NAME = "killed-from-outside"
CLASS = "killed-externally"
EXAMINES = AppliesTo.FAILED

KILLS = {
    signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGXFSZ,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE, signal.SIGVTALRM, signal.SIGPROF,
}  # fmt: skip
_SLURM = re.compile(r"slurmstepd: error: .{0,300}CANCELLED AT .{0,100}?(DUE TO [A-Z ]{1,40})?\s{0,4}\*\*\*")
_LAUNCHER_GOT = re.compile(r"got signal: (\d+)")
_BEFORE_THE_LIMIT = (
    "a batch system sends it before the time is up (Slurm's --signal), or somebody did, and nothing handled it",
    "save and stop in a handler of that signal, or take --signal out of the batch script",
)
_MEANING = {
    signal.SIGUSR1: _BEFORE_THE_LIMIT,
    signal.SIGUSR2: _BEFORE_THE_LIMIT,
    signal.SIGKILL: ("somebody, or a limit of its container, killed it", "see who runs kill -9"),
    signal.SIGTERM: ("a scheduler, a container that stops, or somebody asked it to end", "see the scheduler's log"),
    signal.SIGINT: ("Ctrl-C or a signal that stands for it", "nothing, where it was meant"),
    signal.SIGHUP: ("its terminal was closed", "start it with nohup, in tmux, or through a scheduler"),
    signal.SIGXCPU: ("its limit of processor time was reached (ulimit -t)", "raise it: ulimit -t unlimited"),
    signal.SIGXFSZ: ("its limit on the size of a file was reached (ulimit -f)", "raise it: ulimit -f unlimited"),
    signal.SIGPIPE: ("it wrote into a pipe that nobody reads any more", "keep the reader alive, or write into a file"),
    signal.SIGALRM: ("an alarm that it set itself ran out", "handle SIGALRM, or set no alarm"),
}  # fmt: skip


def match(job: Job) -> Match | None:
    """Returns the first process at fault that a signal ended, or the launcher that was told to end."""
    blamed_ones = [
        process for process in primary_failures(job) if process.ended_by != "launcher"
    ]  # that one had failed before
    killed = [process for process in blamed_ones if process.end.signal in KILLS]
    killed += [] if killed else _killed_by_peers(job)
    if killed:
        return _of_process(job, min(killed, key=ended_s))
    return None if job.culprits else _of_launcher(job)


def _killed_by_peers(job: Job) -> list[JobProcess]:
    """Ranks that another process of the job ended are nobody's victims but that line's."""
    if any(one.failed and one.ended_by in ("", "unknown") for one in job.ranks):
        return []
    return [one for one in job.ranks if one.end.signal in KILLS and one.ended_by.startswith("pid ")]


def _of_process(job: Job, process: JobProcess) -> Match | None:
    number = process.end.signal or 0
    sender = sender_of(job, process)
    if sender is not None:
        return _by_job(job, process, sender)
    command = kill_command(job, process, number)
    if command is not None:
        return _by_command(job, process, number, command)
    meaning, fix = _MEANING.get(signal.Signals(number), ("another process sent it", "look for who sends this signal"))
    slurm = _SLURM.search(job.output)
    if slurm:
        why = (slurm[1] or "by scancel").strip().lower()
        meaning, fix = (
            f"Slurm cancelled the job {why}",
            "ask for more time (--time), or save and resume (--signal, --requeue)",
        )
    confirmed = slurm is not None or number in (signal.SIGXCPU, signal.SIGXFSZ)
    evidence = [end_evidence(process), *output_evidence(process)]
    if slurm:
        evidence.append(Evidence(source="Slurm", observed=slurm[0]))
    alarms = list(alarms_of(job, process)) if number == signal.SIGALRM else []
    if alarms:
        meaning = f"the alarm that {alarms[0]} sets rang where no handler was set"
        fix = "take the alarm back on every way out, before its handler is taken away: signal.setitimer(..., 0)"
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} was ended by {signal_name(number)}"
        f"{'' if alarms else ' from outside'}: {meaning}",
        evidence=evidence,
        fix=Fix(text=fix),
        locations=distinct(alarms),
        confidence=Confidence.CONFIRMED if confirmed else Confidence.LIKELY,
        generic=True,
    )


def _by_job(job: Job, process: JobProcess, sent: SignalSent) -> Match:
    sender = job.of_pid(sent.sender_pid)
    frames = frames_of(job, sent)
    locations = distinct([job.line(frame) for frame in frames[:3]])
    itself = sent.sender_pid == process.pid
    by = "itself" if itself else names_of([sender]) if sender is not None else f"process {sent.sender_pid}"
    at = f" at {locations[0]}" if locations else ""
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} was ended by {signal_name(sent.signal)}, sent by {by}{at}",
        evidence=[
            end_evidence(process),
            *path_evidence(job, f"signal {sent.signal} to {sent.target_pid} from process {sent.sender_pid}", frames),
            *(source_evidence(job, frames[0]) if frames else ()),
        ],
        fix=Fix(text=f"do not send the signal{at}, or see why that line thinks the process must end"),
        locations=locations,
        confidence=Confidence.CONFIRMED,
        began_s=sent.at_s,
    )


def _by_command(job: Job, process: JobProcess, number: int, by: KillCommand) -> Match:
    at = f" at {by.locations[0]}" if by.locations else ""
    over = f": its {by.ran_out_s:g} s were over" if by.ran_out_s is not None else ""
    advice = "give it more time, or save and resume" if over else "see why that line ends the process"
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} was ended by {signal_name(number)} from `{by.command}`{at}{over}",
        evidence=[end_evidence(process), Evidence(source="the job's command", observed=by.command)],
        fix=Fix(text=f"{advice}{at}"),
        locations=by.locations,
        confidence=Confidence.CONFIRMED if by.certain else Confidence.LIKELY,
        explains=[rank.pid for rank in job.ranks] if process.part is ProcessRole.LAUNCHER else [],
        generic=True,
    )


def _of_launcher(job: Job) -> Match | None:
    """Returns the launcher's own end by a signal, which it passes on to its ranks."""
    stopped_s = interrupted_s(job)
    for process in job.processes:
        if process.part is not ProcessRole.LAUNCHER or ended_s(process) >= stopped_s or job.facts.ended_for_hanging:
            continue
        told = _LAUNCHER_GOT.search(process.uncaught.message) if process.uncaught is not None else None
        number = int(told[1]) if told else process.end.signal
        if number not in KILLS or process.ended_by in ("doctor", "launcher"):
            continue
        command = kill_command(job, process, number)
        if command is not None:
            return _by_command(job, process, number, command)
        meaning, fix = _MEANING.get(signal.Signals(number), ("another process sent it", "look for who sends it"))
        return blamed(
            job,
            [process],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=f"The launcher got {signal_name(number)} and ended its ranks: {meaning}",
            evidence=[end_evidence(process), *output_evidence(process)],
            fix=Fix(text=fix),
            confidence=Confidence.CONFIRMED if told else Confidence.LIKELY,
            explains=[rank.pid for rank in job.ranks],
        )
    return None
