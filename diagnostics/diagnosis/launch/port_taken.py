"""The port of the rendezvous, or another one the job listens on, is taken.

What it does: finds "address already in use" as what ended a launcher or rank, with the port and the line that sets it.

Why it matters: the rank that cannot listen dies at once, while the others wait for it for minutes and then report
something else.

Fix: let torchrun take a free port (--standalone or --rdzv-endpoint=localhost:0), or end what holds it.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, failed_processes, match_text
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.job.process_queries import event_s, events_of, own_lines
from diagnostics.dynamic.launch.init_progress import variable
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_setting
from diagnostics.dynamic.launch.nested_launch import nested_launch
from diagnostics.record.agent_data import LifecycleEvent
from diagnostics.static.launch_files.launch_line import option, port

CODE = "D104"
NAME = "port-taken"
CLASS = "port-in-use"
EXAMINES = AppliesTo.FAILED

TAKEN = re.compile(r"EADDRINUSE|address already in use|\[Errno 98\]|WinError 10048", re.IGNORECASE)
ACCELERATE = re.compile(r"Tried to launch distributed communication on port `?(?P<port>\d+)`?, but another process")
NUMBER = re.compile(r"port:? `?(\d{1,5})\b|\]:(\d{1,5})\b|:(\d{2,5})(?!\d*\.\w)\b|', (\d{1,5})\)", re.IGNORECASE)
IN_TORCH = re.compile(r"server socket has failed|TCPStore|DistNetworkError|port:", re.IGNORECASE)
NAMES = ("MASTER_PORT", "rdzv_endpoint", "main_process_port", "init_method", "port")


def match(job: Job) -> Match | None:
    """Returns the port, who could not listen on it and the line that chose it."""
    if nested_launch(job) is not None:
        return None  # two launchers on one port: the second one is the cause
    tellers = match_text(job, TAKEN) or match_text(job, ACCELERATE) or match_text(job, TAKEN, failed_processes(job))
    if not tellers or any(_launched_later(job, one) for one in tellers):
        return None
    one = tellers[0]
    number = _port(job, one)
    own = one.locations(job)
    set_at = lines_setting(job, NAMES, number, also=r"tcp://") if number else ()
    literal = [line for line in own[:1] if number and number in _text(job, line)]
    in_torch = bool(IN_TORCH.search(one.line)) or one.process.part is ProcessRole.LAUNCHER
    locations = [*literal, *set_at, *own, *launch_lines(job)] if in_torch else [*own, *set_at]
    others = [
        process for process in job.processes if process.part is ProcessRole.LAUNCHER and process.pid != one.process.pid
    ]
    same = [process for process in others if number and port(process.argv) == number]
    held = "it is in use by another process"
    held += f", which process {same[0].pid} of this very job listens on" if same else ""
    holder = _holder(job, one, number)
    if holder is not None:
        own_lines_of_holder = own_lines(job, holder[0], holder[1].path)
        locations = [*own_lines_of_holder, *locations]
        itself = holder[0].pid == one.process.pid
        where = f" at {own_lines_of_holder[0]}" if own_lines_of_holder else ""
        held = f"{'it' if itself else names_of([holder[0]])} listens there already{where}"
    return blamed(
        job,
        [one.process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([one.process]))} could not listen on port {number or '(unknown)'}: {held}",
        evidence=(*one.evidence(job), *_told_to(one, number)),
        fix=Fix(
            text="let torchrun take a free port (--standalone, or --rdzv-backend c10d --rdzv-endpoint localhost:0), "
            f"or end what holds {number or 'it'}",
            commands=(f"ss -ltnp 'sport = :{number}'" if number else "ss -ltnp",),
        ),
        locations=distinct(locations),
    )


def _holder(job: Job, one: TextMatch, number: str) -> tuple[JobProcess, LifecycleEvent] | None:
    """Returns the process of the job that was seen to listen on the port before, and lived, with the event."""
    for process in job.processes:
        lives = process.end.at_s is None or process.end.at_s >= one.at_s
        for event in events_of(process, "listen") if number and lives else ():
            if words(event.text).get("port") == number and event_s(job, process, event.seconds) <= one.at_s:
                return process, event
    return None


def _launched_later(job: Job, one: TextMatch) -> bool:
    """Whether a later launch went well: a script that tries the next port."""
    if one.process.part is not ProcessRole.LAUNCHER:
        return False
    later = [
        process for process in job.processes if process.part is ProcessRole.LAUNCHER and process.began_s >= one.at_s
    ]
    return any(not process.failed for process in later)


def _port(job: Job, one: TextMatch) -> str:
    found = NUMBER.search(one.found.string[max(0, one.found.start() - 300) :])
    numbers = [group for group in (found.groups() if found else ()) if group]
    if numbers:
        return numbers[0]
    # accelerate and plain sockets do not say it
    return (
        variable(one.process, "MASTER_PORT")
        or (port(one.process.argv) or "" if one.process.part is ProcessRole.LAUNCHER else "")
        or job.facts.variables.get("MASTER_PORT", "")
    )


def _text(job: Job, place: str) -> str:
    file, _, line = place.rpartition(":")
    lines = job.sources.file(file).lines
    return lines[int(line) - 1] if line.isdigit() and 0 < int(line) <= len(lines) else ""


def _told_to(one: TextMatch, number: str) -> tuple[Evidence, ...]:
    given = option(one.process.argv, "--master-port", "--rdzv-endpoint", "--main-process-port")
    if given is not None:
        return (Evidence(source="command line of the launcher", observed=f"told to use {given}"),)
    if variable(one.process, "MASTER_PORT"):
        return (Evidence(source="its environment", observed=f"MASTER_PORT={variable(one.process, 'MASTER_PORT')}"),)
    return ()
