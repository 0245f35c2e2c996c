"""A rank cannot reach the store at MASTER_ADDR:MASTER_PORT.

What it does: takes "client socket has timed out", "Name or service not known", "No route to host" and their kin, with
the host and port in the text, and names the line that sets them. Knows that under torchrun nobody serves a port of
the script's own, and that ranks which set MASTER_PORT themselves may each ask another one.

Why it matters: gloo and NCCL wait for minutes, and rank 0 says that ranks are missing.

Fix: MASTER_ADDR is the name or address of the machine of rank 0 as the other machines see it.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, failed_processes, match_text
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.launch.init_progress import asked_port, at_another_port, initialised, variable
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_setting, lines_with
from diagnostics.dynamic.launch.nested_launch import nested_launch
from diagnostics.record.agent_data import GROUP_MADE
from diagnostics.static.launch_files.launch_line import option

CODE = "D106"
NAME = "master-out-of-reach"
CLASS = "master-unreachable"
EXAMINES = AppliesTo.FAILED

UNREACHED = re.compile(
    r"client socket has (?:timed out after \S+ while trying to connect|failed to connect) to "
    r"(?:any network address of )?\(?\[?(?:::ffff:)?(?P<host>[^\s,()\]]+?)\]?(?:, |:)(?P<port>\d+)\)?"
    r"|(?P<other>Ping failed, invalid value returned from server)"
    r"|addresses of \((?P<name>[^,]+), (?P<at>\d+)\) cannot be retrieved"
    r"|(?:RuntimeError|DistNetworkError|gaierror|DistStoreError)\b(?!.*client socket).*"
    r"(?:Name or service not known|Temporary failure in name resolution|No address associated|No route to host"
    r"|Network is unreachable)"
)
REASONS = (
    (re.compile(r"gai error|Name or service|name resolution|No address assoc"), "no such name is known here"),
    (re.compile(r"errno: 113|No route to host"), "no route leads to it"),
    (re.compile(r"errno: 101|[Nn]etwork is unreachable"), "its network cannot be reached"),
    (re.compile(r"errno: 111|[Cc]onnection refused"), "nobody listens there"),
)
LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - names of this machine, nothing listens on them
BEGUN = f"{GROUP_MADE}-begin"
HOSTS = ("MASTER_ADDR", "rdzv_endpoint", "main_process_ip", "init_method", "master")
PORTS = ("MASTER_PORT", "rdzv_endpoint", "main_process_port", "init_method", "port")


def match(job: Job) -> Match | None:
    """Returns the address that did not answer, who asked and the line that sets it."""
    processes = failed_processes(job)
    tellers = match_text(job, UNREACHED, processes)
    if apart := at_another_port(job):
        return _apart(job, apart)
    if not tellers or any(initialised(one.process) for one in tellers) or nested_launch(job) is not None:
        return None
    if any(_is_the_reason(one, tellers) for one in processes):
        return None  # rank 0 died or could not listen: that is why nobody answers
    one = next((teller for teller in tellers if _where(teller)[0]), tellers[0])
    host, port = _where(one)
    reason, wrong_port = _reason(job, one, host, port)
    names, value = (PORTS, port) if wrong_port else (HOSTS, host)
    set_at = lines_setting(job, names, value, also="tcp://") if value else ()
    own = one.locations(job)
    literal = [line for line in own[:1] if line in set_at]
    if host and not wrong_port and host not in LOCAL:
        named_at = lines_with(job, re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-])"))
        set_at = distinct([*(line.location for line in named_at), *set_at])
    return blamed(
        job,
        [teller.process for teller in tellers],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([teller.process for teller in tellers]))} got no answer from the store at "
        f"{host or 'an unknown address'}{':' + port if port else ''}: {reason}",
        evidence=(*one.evidence(job), *_given(one)),
        fix=_fix(host, port, wrong_port),
        locations=distinct([*literal, *set_at, *own, *launch_lines(job)]),
        confidence=Confidence.CONFIRMED if wrong_port or reason != "it did not answer" else Confidence.LIKELY,
    )


def _apart(job: Job, apart: tuple[JobProcess, ...]) -> Match | None:
    """Ranks that look for the store at another port than the one where rank 0 serves it: all wait in vain."""
    zero = job.of_rank(0)
    waited = match_text(job, re.compile(f"{UNREACHED.pattern}|clients joined|[Tt]imed out"), failed_processes(job))
    if zero is None or not waited:
        return None
    port, served = asked_port(apart[0]), asked_port(zero)
    called = [event for one in apart if one.agent is not None and (event := one.agent.last_event(BEGUN)) is not None]
    calls = [job.line(frame) for event in called for frame in user_frames(event.path)[:1]]
    given = [f"rank {one.rank} asked port {asked_port(one)}" for one in (zero, *apart)]
    return blamed(
        job,
        apart,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(apart))} looked for the store at port {port}, and rank 0 serves it at port {served}",
        evidence=(Evidence(source="calls of init_process_group", observed="; ".join(given), expected="one port"),),
        fix=Fix(text=f"give every rank the same MASTER_PORT; rank 0 has {served}"),
        locations=distinct([*lines_setting(job, ("MASTER_PORT",), port), *calls, *lines_setting(job, PORTS, port)]),
        explains=[one.pid for one in (zero, *apart)],
    )


def _where(one: TextMatch) -> tuple[str, str]:
    found = one.found
    argv = one.process.argv
    host, _, port = (option(argv, "--rdzv-endpoint") or "").partition(":")
    return (
        found["host"] or found["name"] or variable(one.process, "MASTER_ADDR") or option(argv, "--master-addr") or host,
        found["port"] or found["at"] or variable(one.process, "MASTER_PORT") or option(argv, "--master-port") or port,
    )


def _is_the_reason(process: JobProcess, tellers: tuple[TextMatch, ...]) -> bool:
    """A rank that failed by itself, earlier and of something else."""
    own = process.failed and process.ended_by in ("", "unknown") and process.part is ProcessRole.RANK
    if not own or any(one.process.pid == process.pid for one in tellers):
        return False
    waited_for_others = re.compile(r"clients joined|[Tt]imed out")
    return process.uncaught is None or not waited_for_others.search(process.uncaught.text)


def _reason(job: Job, one: TextMatch, host: str, port: str) -> tuple[str, bool]:
    """Returns why nobody answered, and whether the port is the wrong part."""
    served = variable(one.process, "MASTER_PORT")
    agents_store = variable(one.process, "TORCHELASTIC_USE_AGENT_STORE") == "True"
    text = f"{one.found.string} {job.output if host and host in job.output else ''}"
    if one.found["other"]:
        return "what answers there is no store of torch's", False
    known = next((reason for pattern, reason in REASONS if pattern.search(text)), "")
    if not known and agents_store and served and served != port:
        return f"torchrun serves its own store on port {served}, and its ranks start none at another port", True
    zero = job.of_rank(0)
    if zero is not None and one.process.rank != 0 and port and variable(zero, "MASTER_PORT") not in ("", port):
        return f"rank 0 was told port {variable(zero, 'MASTER_PORT')}", True
    return known or "it did not answer", False


def _given(one: TextMatch) -> tuple[Evidence, ...]:
    said = [
        f"{name}={variable(one.process, name)}"
        for name in ("MASTER_ADDR", "MASTER_PORT")
        if variable(one.process, name)
    ]
    return (Evidence(source="its environment when it started", observed=", ".join(said)),) if said else ()


def _fix(host: str, port: str, wrong_port: bool) -> Fix:
    if wrong_port:
        return Fix(text="leave MASTER_ADDR and MASTER_PORT as torchrun sets them: init_process_group(backend) without "
                   "an address; or start the script without torchrun")  # fmt: skip
    return Fix(
        text=f"set MASTER_ADDR to an address of the machine of rank 0 that this one can reach, not {host}; start "
        f"rank 0 there, and let port {port or 'MASTER_PORT'} through the firewall",
        commands=(f"getent hosts {host}", f"nc -zv {host} {port}") if host and port else ("getent hosts $MASTER_ADDR",),
    )
