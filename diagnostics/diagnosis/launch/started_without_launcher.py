"""A program that needs a launcher was started with plain Python.

What it does: where what is missing is RANK, LOCAL_RANK or the like, no launcher is among the processes, and nothing
dropped the variables on their way, names the line that starts the program.

Why it matters: the error is a KeyError in a line that is right.

Fix: torchrun --standalone --nproc-per-node 2 train.py
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import merged_locations
from diagnostics.dynamic.job.evidence import program
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.launch_settings import lines_with
from diagnostics.dynamic.launch.missing_environment import missing_variables, started_without_launcher

CODE = "D102"
NAME = "started-without-launcher"
CLASS = "launcher-missing"
EXAMINES = AppliesTo.FAILED

STARTS = re.compile(r"(?:^|[;&|(\s])(?:exec\s+)?[\w./-]*python[\d.]*\s+(?!-c\b)\S")


def match(job: Job) -> Match | None:
    """Returns the line that starts the program, and what it lacked."""
    if not started_without_launcher(job):
        return None
    lacking = missing_variables(job)
    one, name = lacking[0]
    script = program(one.process)
    starts = [line.location for line in lines_with(job, STARTS, "shell")]
    named = [line.location for line in lines_with(job, re.compile(re.escape(script)), "shell")]
    return blamed(
        job,
        [teller.process for teller, _ in lacking],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{script} was started without a launcher, so that nothing set {name}",
        evidence=(
            *one.evidence(job),
            Evidence(source="processes of the job", observed="no torchrun, accelerate or the like among them"),
        ),
        fix=Fix(
            text="start it with a launcher, which gives each rank its RANK, LOCAL_RANK and WORLD_SIZE",
            commands=(f"torchrun --standalone --nproc-per-node 2 {script}",),
        ),
        locations=distinct([*(line for line in named if line in starts), *starts, *merged_locations(job, [one])]),
    )
