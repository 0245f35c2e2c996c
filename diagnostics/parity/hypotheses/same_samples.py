"""Ranks are given the same samples, or the last samples of an epoch are filled up with others.

What it does: compares the samples of all ranks with each other, and with what one process is given, by their content.

Why it matters: a sample that several ranks are given counts several times in the gradient, and others may never count.
A sampler that fills the last batch up (DistributedSampler does, by repeating the first samples) does it once an epoch;
a loader without a sampler of its own rank does it always.

Fix: give each rank's loader a DistributedSampler with its rank, and `drop_last=True` or a weight of 0 for what fills up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y102"
NAME = "repeated-samples"


def explain(measured: Measured) -> Explanation | None:
    """Holds where a sample was on two ranks within one step, and no more often in the global batch."""
    for number in range(measured.steps):
        step = measured.of_step(number)
        found = _of_step(step)
        if found is not None:
            sentence, proof, fix = found
            return Explanation(code=CODE, name=NAME, sentence=sentence, proof=proof, fix=fix, step=number)
    return None


def _of_step(step: Mapping[str, Any]) -> tuple[str, tuple[str, ...], str] | None:
    ranks, all_of_one = [list(one) for one in step["samples"]], step["samples_of_one"]
    given = [digest for one in ranks for digest in one]
    repeated = len(given) - len(set(given))
    if not repeated or repeated == len(all_of_one) - len(set(all_of_one)) and not all(one == ranks[0] for one in ranks):
        return None
    counts = f"{len(given)} samples on the ranks, {len(set(given))} different ones"
    if all(sorted(one) == sorted(ranks[0]) for one in ranks[1:]):
        return (
            f"all {len(ranks)} ranks are given the same {len(ranks[0])} samples",
            (counts,),
            "make the loader after the process group, with DistributedSampler(dataset, num_replicas=..., rank=...)",
        )
    return (
        f"{repeated} of {len(given)} samples are there twice: a sampler fills the batch up",
        (counts, f"sizes of the ranks' shares: {', '.join(map(str, step['sizes']))}"),
        "leave what fills up out of the loss (a weight of 0), or use drop_last=True",
    )
