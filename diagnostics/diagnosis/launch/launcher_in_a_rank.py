"""A rank starts ranks: torchrun inside torchrun, or mp.spawn inside torchrun.

What it does: finds in the tree of processes a launcher, or ranks, below a process that is a rank of another launcher,
and names the line that starts them.

Why it matters: each outer rank makes a whole job of its own; they inherit RANK and MASTER_PORT from the outer one, take
each other's port or wait for a store that nobody serves. What is printed is a port in use or a timeout.

Fix: start the program with one launcher: python for a script that uses mp.spawn, torchrun for one that reads RANK.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_with
from diagnostics.dynamic.launch.nested_launch import nested_launch

CODE = "D107"
NAME = "launcher-in-a-rank"
CLASS = "nested-launch"
EXAMINES = AppliesTo.FAILED

STARTS = re.compile(
    r"\b(?:mp|multiprocessing)\.spawn\(|\bspawn\(|torchrun|torch\.distributed\.(?:run|launch)|accelerate"
)


def match(job: Job) -> Match | None:
    """Returns the rank that launched others and the line where it does."""
    nesting = nested_launch(job)
    if nesting is None:
        return None
    own = [job.line(frame) for frame in nesting.path] or [line.location for line in lines_with(job, STARTS, "python")]
    shell = [line for line in launch_lines(job) if line not in own]
    what = " ".join(nesting.inner[0].argv[:6])[:120] or f"process {nesting.inner[0].pid}"
    outer = " ".join(nesting.outer.argv[1:4])[:80] if nesting.outer is not None else "another launcher"
    process = nesting.rank
    count = len({one.pid for one in nesting.inner})
    return blamed(
        job,
        [],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Process {process.pid}, itself a rank of {outer}, launched {count} more at "
        f"{own[0] if own else 'an unknown line'}: {what}",
        evidence=(
            Evidence(
                source="tree of processes",
                observed=f"{process.parent_pid} > {process.pid} > {', '.join(str(one.pid) for one in nesting.inner[:8])}",
                expected="one launcher, with the ranks right below it",
            ),
            *(source_evidence(job, nesting.path[0]) if nesting.path else ()),
        ),
        fix=Fix(
            text="use one launcher: start the script with plain `python` if it spawns its own ranks, or take the "
            "inner launch out and read RANK, LOCAL_RANK and WORLD_SIZE"
        ),
        locations=distinct([*own[:2], *shell]),
        confidence=Confidence.CONFIRMED if nesting.path else Confidence.LIKELY,
        explains=[one.pid for one in job.processes if one.failed],
        began_s=min((one.began_s for one in nesting.inner), default=process.began_s),
    )
