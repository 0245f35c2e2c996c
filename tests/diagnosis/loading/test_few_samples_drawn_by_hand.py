"""Samplers that keep to a few samples: told with how many came; draws of many, short passes and small sets are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hand_made import a_job
from made_batches import one_pass, rank, source

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.loading import few_samples_drawn
from diagnostics.diagnosis.signature import Match

PROGRAM = """\
def make(data):
    return WeightedRandomSampler(1 / data.counts, num_samples=len(data))
loader = DataLoader(songs, 4, sampler=make(songs))
"""


def match_of(folder: Path, drawn: Sequence[int], sampler: str = "WeightedRandomSampler", **facts: str) -> Match | None:
    told = source(one_pass(0, drawn), at=f"{folder}/train.py:3", sampler=sampler, **facts)
    return few_samples_drawn.match(a_job(rank(0, told), code=0, cwd=folder, files={"train.py": PROGRAM}))


def test_a_weight_for_each_class_is_told_where_the_sampler_is_made(tmp_path: Path) -> None:
    found = match_of(tmp_path, [0, 2, 1, 2] * 50)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations, found.finding.confidence) == (
        "duplicate-data", (0,), ("train.py:2", "train.py:3"), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.finding.title == (
        "The WeightedRandomSampler of the training loader drew 3 of 400 samples in 200 draws, again and again: the "
        "others are never used"
    )
    assert next(one.observed for one in found.finding.evidence) == "200, 3: 0, 1, 2"


def test_another_sampler_is_told_with_other_words(tmp_path: Path) -> None:
    found = match_of(tmp_path, [7] * 100, "Balanced")
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith("look at what the Balanced gives")


@pytest.mark.parametrize(
    ("drawn", "facts"),
    [
        pytest.param(range(200), {}, id="each sample once"),
        pytest.param([*range(30), *[300, 301] * 15] * 3, {}, id="a rare class that is drawn as often as the others"),
        pytest.param([0, 1, 2] * 20, {}, id="a short pass"),
        pytest.param([0, 1, 2] * 60, {"length": "24"}, id="a small set"),
    ],
)
def test_what_draws_enough_is_left_alone(tmp_path: Path, drawn: Sequence[int], facts: dict[str, str]) -> None:
    assert match_of(tmp_path, drawn, **facts) is None
