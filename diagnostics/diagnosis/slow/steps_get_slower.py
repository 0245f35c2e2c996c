"""Each step takes longer than the one before, by a line that goes over all that was kept so far.

What it does: follows, over all steady steps, the CPU time that the thread which trains spends beside its model. Told
where that grows all the time, to twice and more of what it was, and is most of a late step, while the
model takes as long as before, and most looks at the thread see it at one line that copies, joins, sorts or converts a
whole container.

Why it matters: the run gets slower with all that it stores; what takes an hour today takes a day at full length.

Left alone: what grows with the model's own time (longer samples), what stops growing (a buffer that is full), and
episodes that get longer: their time is spent in the environment.

Fix: take the indices first and then only what they name; join once, outside of the loop.

Bad:

    batch = {key: value[:self.size].copy()[index] for key, value in self.memory.items()}

Good:

    batch = {key: value[index] for key, value in self.memory.items()}
"""

from __future__ import annotations

import re
from collections import Counter

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.slow_match import enough, told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import user_frames_of
from diagnostics.dynamic.steps.places import LEAST_SEEN, phase_of
from diagnostics.dynamic.steps.slowdown import Slowdown, slowdown
from diagnostics.dynamic.steps.table import milliseconds
from diagnostics.dynamic.steps.view import step_view
from diagnostics.record.step_timings import Phase

CODE = "D807"
NAME = "steps-get-slower"
CLASS = "data-starved"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

AT_ONE_LINE = 0.6  # of the looks at its other host work
# Calls that go over all of what they are given.
_WHOLE = re.compile(
    r"\b(?:copy|deepcopy|clone|cat|concat|concatenate|[vhd]?stack|column_stack|np\.append|numpy\.append|as_?tensor|tensor"
    r"|FloatTensor|LongTensor|array|asarray|list|tuple|set|dict|sorted|sort|argsort|unique|tolist|from_numpy|DataFrame"
    r"|shuffle|permutation|choices|dumps?|loads|sum|mean|median|quantile|percentile)\("
)


def match(job: Job) -> Match | None:
    """Returns the job whose steps get slower."""
    view = step_view(job)
    found = [one for split in view.splits if (one := slowdown(split.of)) is not None]
    if view.on_device or not found or len(found) < len(view.splits):
        return None
    worst = max(found, key=lambda one: one.last_s)
    line = _line(job, worst.of.process)
    if line is None or not enough(view.splits, min(one.lost_s for one in found)):
        return None
    at = job.line(line)
    return told(
        job,
        [],
        view.splits,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{at} takes longer in each step: what is done beside the model grew from "
        f"{milliseconds(worst.first_s)} to {milliseconds(worst.last_s)} ms of CPU time, of "
        f"{milliseconds(worst.step_s)} ms for a step",
        evidence=[_growth(worst), *source_evidence(job, line)],
        fix="copy, join or convert only what this step needs: choose the indices first; or do it once, outside of the "
        "loop",
        locations=distinct([at]),
        confidence=Confidence.LIKELY,
    )


def _growth(one: Slowdown) -> Evidence:
    steps = one.of.steps
    return Evidence(
        source=f"rank {one.of.rank}: CPU time beside its model, steps {steps[0].number} to {steps[-1].number}",
        observed=f"{milliseconds(one.first_s)} ms in the first sixth, {milliseconds(one.last_s)} ms in the last",
        expected="the same in each step",
    )


def _line(job: Job, process: JobProcess) -> Frame | None:
    """Returns the innermost line of the user's at which most looks saw it, where it goes over a whole container."""
    seen: Counter[Frame] = Counter()
    total = 0
    for one in process.step_stacks:
        if phase_of(one.frames) is not Phase.OTHER:
            continue
        total += one.count
        for frame in user_frames_of(process, one.frames)[:1]:
            seen[frame] += one.count
    found = seen.most_common(1)
    if total < LEAST_SEEN or not found or found[0][1] < AT_ONE_LINE * total:
        return None
    line = found[0][0]
    lines = job.sources.file(line.file).lines
    return line if 0 < line.line <= len(lines) and _WHOLE.search(lines[line.line - 1]) else None
