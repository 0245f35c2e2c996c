"""A rank lacks an environment variable that its launcher should have given it.

What it does: takes KeyError, "environment variable RANK expected, but not set" and int(None) at a line that reads
os.environ, compares what the other ranks and the parent had, and looks in the launch scripts for what drops variables:
a missing export, ssh, sudo, env -i, srun --export, a program started with an `env` of its own, or no launcher at all.

Why it matters: the line that fails reads the variable; the line to change is the one that did not pass it on.

Fix: export the variable, pass it through the wrapper, or start the program with torchrun.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.init_progress import variable
from diagnostics.dynamic.launch.missing_environment import (
    dropping_lines,
    missing_variables,
    started_without_launcher,
    unexported_lines,
)

CODE = "D103"
NAME = "environment-lost"
CLASS = "env-not-propagated"
EXAMINES = AppliesTo.FAILED


def match(job: Job) -> Match | None:
    """Returns the variable, who lacked it, and the line that lost it."""
    tellers = missing_variables(job)
    if not tellers or started_without_launcher(job):
        return None
    name = tellers[0][1]
    lacking = [one for one, other in tellers if other == name]
    processes = [one.process for one in lacking]
    culprits, reason, fix = _where_lost(job, name)
    read_at = [line for one in lacking for line in one.locations(job)]
    had = _who_had(job, name, lacking)
    certain = not lacking[0].found["none"]
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} lacked the environment variable {name}: {reason}",
        evidence=(*lacking[0].evidence(job), *had),
        fix=fix,
        locations=distinct([*culprits, *read_at]),
        confidence=Confidence.CONFIRMED if certain else Confidence.LIKELY,
    )


def _where_lost(job: Job, name: str) -> tuple[list[str], str, Fix]:
    """Returns the lines that lost the variable, what they did in words, and the remedy."""
    unexported = unexported_lines(job, name)
    if unexported:
        words = f"{unexported[0].location} sets it without exporting it"
        return [unexported[0].location], words, Fix(text=f"write `export {unexported[0].text.strip()[:120]}`")
    dropped = dropping_lines(job)
    if dropped:
        shown = dropped[0].text.strip()[:100]
        words = f"{dropped[0].location} starts programs without it ({shown})"
        text = f"pass {name} through: name it in that line, as in {_passing(shown, name)}"
        return [line.location for line in dropped], words, Fix(text=text)
    text = f"set {name} before the job starts, or give the line that reads it a default"
    return [], "nothing that started this process set it", Fix(text=text, commands=(f"export {name}=...",))


def _passing(shown: str, name: str) -> str:
    if "sudo" in shown:
        return f"sudo --preserve-env={name} ..."
    if "ssh" in shown:
        return f'ssh HOST "{name}=${name} ..."'
    if "docker" in shown or "podman" in shown:
        return f"docker run -e {name} ..."
    if "srun" in shown or "--export" in shown:
        return "srun --export=ALL ..."
    return f"env={{**os.environ, '{name}': ...}} in Python, `env {name}=${name}` in a shell"


def _who_had(job: Job, name: str, lacking: Sequence[TextMatch]) -> tuple[Evidence, ...]:
    without = {one.process.pid for one in lacking}
    having = [one for one in job.processes if one.pid not in without and variable(one, name)]
    if not having:
        return ()
    shown = ", ".join(f"{one.part} {one.pid} had {name}={variable(one, name)}" for one in having[:4])
    return (Evidence(source="environments of the job's processes", observed=shown, expected="the same in each"),)
