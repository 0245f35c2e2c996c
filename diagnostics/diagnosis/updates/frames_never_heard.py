"""Lengths end each batch at the same share of its frames: they were shortened more often than the frames were.

What it does: compares, where a CTC loss is taken of a training or a padded batch is packed, the longest length with the
frames there are. Told where it was at most six tenths of them in each batch that was looked at, and the same share of
each, while the batches had different numbers of frames. Left alone: batches of one size (padded to a maximum), and a
function that was once given a filled batch.

Why it matters: a batch is padded to its longest sample, which so is as long as the batch. Half the length means that
the other half of every sample is never heard: a loss asks for all labels of a part of the frames, and still falls.

Bad:

    features, lengths = self.convolutions(features, lengths)   # gives the shortened lengths
    lengths = lengths // 4                                     # and once more

Good:

    features, lengths = self.convolutions(features, lengths)
    assert lengths.max() == features.shape[1]
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.loss_marks import FramesUnheard

CODE = "D970"
NAME = "frames-never-heard"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_SIZES = 4  # numbers of frames that batches had
MOST_LINES = 3
_SHORTENS = re.compile(r"len(?:gth)?s?\b[^=#\n]{0,40}(?:>>|//)\s?\d")


def match(job: Job) -> Match | None:
    """Returns the ranks whose lengths are a share of the frames."""
    marks = latest(job, FramesUnheard, lambda mark: mark.function)
    found = [one for one in marks if one.mark.sizes >= LEAST_SIZES]
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    path = own(process, mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    shortens = lines_like(job, process, _SHORTENS, MOST_LINES)
    where = f": {', '.join(job.line(one) for one in shortens)} shorten lengths" if len(shortens) > 1 else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The lengths given to {mark.function}{at} end every batch at {mark.share:.0%} of its frames: they were "
        "shortened more often than the frames were, and the rest of each sample is never used",
        evidence=[
            Evidence(
                source=f"longest length and frames of a batch, in {mark.calls} calls with {mark.sizes} numbers of "
                "frames or more",
                observed=f"{mark.longest} of {mark.frames} in the latest, at most {mark.share:.0%} in each",
                expected="as long as the batch, which is padded to its longest sample",
            )
        ],
        fix=f"shorten lengths once for each layer that shortens the frames{where}; assert lengths.max() == frames",
        places=tuple(dict.fromkeys([*path, *shortens])),
        confidence=Confidence.LIKELY,
    )
