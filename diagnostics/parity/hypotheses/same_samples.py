"""Ranks are given the same samples, or the last samples of an epoch are filled up with others.

What it does: compares the samples that the ranks are given within one pass over a loader, by their content.

Why it matters: a sample that several ranks are given counts several times in the gradient, and others may never
count. A sampler that fills the last batch up (DistributedSampler does, by repeating the first samples) does it once
an epoch; a loader without a sampler of its own rank does it always.

Fix: give each rank's loader a DistributedSampler with its rank, and `drop_last=True` or a weight of 0 for what fills
up.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y102"
NAME = "repeated-samples"


def explain(measured: Measured) -> Explanation | None:
    """Holds where ranks were given samples of each other within one pass over a loader."""
    if not measured.repeats:
        return None
    found = measured.repeats[0]
    common = found.given - found.different
    ranks = len(found.by_rank)
    if found.fills:
        sentence = (
            f"{common} of {found.given} samples {_are(common)} there twice in pass {found.number}: a sampler fills up"
        )
        fix = "give what fills up a weight of 0 in the loss, or use drop_last=True"
    elif found.different * ranks == found.given:
        sentence = f"all {ranks} ranks are given the same {found.different} samples"
        fix = "make the loader after the process group, with DistributedSampler(dataset, num_replicas=..., rank=...)"
    else:
        sentence = f"ranks are given {common} samples of each other: each draws from the whole data set"
        fix = "give each rank a part: DistributedSampler(dataset, num_replicas=..., rank=...), set_epoch at each epoch"
    shown = " and ".join(map(str, found.by_rank))
    proof = f"pass {found.number}: {shown} samples on the ranks, {found.given} in all, {found.different} different ones"
    return Explanation(
        code=CODE, name=NAME, sentence=sentence, factor=f"{common} of {found.given}", proof=(proof,), fix=fix
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
