"""Samples that `__getitem__` makes anew in each pass, and that come out as they did before. Pure."""

from __future__ import annotations

from diagnostics.dynamic.samples.training_passes import RankLoader

LEAST = 16  # samples that were seen in two passes


def made_alike(loader: RankLoader) -> int:
    """Returns how many samples came with the same contents in two passes; 0 where one of them came with others.

    A sample is known by its index in the data set. One that is drawn or augmented differs from pass to pass.
    """
    before: dict[int, int] = {}
    again: set[int] = set()
    for one in loader.passes:
        placed = [
            (index, contents)
            for batch in one.log
            if not batch.unread and not batch.constant
            for index, contents in zip(batch.indices, batch.samples, strict=False)
            if index >= 0
        ]
        if any(before.get(index, contents) != contents for index, contents in placed):
            return 0
        again |= before.keys() & {index for index, _ in placed}
        before |= placed
    return len(again) if len(again) >= LEAST else 0
