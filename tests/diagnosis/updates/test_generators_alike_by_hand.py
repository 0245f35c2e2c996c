"""Generators in one state on ranks that are seeded apart are told; what may be drawn alike on purpose is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event
from made_batches import DDP

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import generators_alike
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.object_marks import Generators, HeldGenerator
from diagnostics.record.parameter_prints import ParameterPrints

HELD = HeldGenerator(path="noise.rng", name="rng", owner="Noise", file="", states=(1, 2, 3), seed=4)
LOOKS = tuple(
    Generators(step=step, seed=11, held=(replace(HELD, states=(step, step + 1, step + 2)),)) for step in (7, 22)
)
NOISE = """\
class Noise:
    def __init__(self, seed):
        self.rng = torch.Generator().manual_seed(seed)
    def stage(self, seed):
        self.rng.manual_seed(seed)
    def __call__(self, x):
        return x + torch.randn(x.shape, generator=self.rng)
"""


def ranks_of(
    first: tuple[Generators, ...], second: tuple[Generators, ...], source: str, folder: Path, *, shared: bool = True
) -> Job:
    """Returns the job of two ranks that held these generators, whose program is this one."""
    told = [event("optimizer", "", f"{folder}/train.py:1"), *([event("gradient-group", DDP)] if shared else [])]
    processes = [
        a_process(100 + rank, rank=rank, agent=agent(*told, pid=100 + rank), prints=ParameterPrints(marks=marks))
        for rank, marks in enumerate((first, second))
    ]
    return a_job(*processes, code=0, cwd=folder, files={"train.py": source})


def seeded(seed: int | None, *looks: Generators) -> tuple[Generators, ...]:
    """Returns these looks in a process with this seed."""
    return tuple(replace(one, seed=seed) for one in looks or LOOKS)


def in_another_state(look: Generators) -> Generators:
    return replace(look, held=tuple(replace(one, states=(90, 91, 92)) for one in look.held))


def test_one_state_at_each_step_under_seeds_of_their_own_is_told(tmp_path: Path) -> None:
    found = generators_alike.match(ranks_of(LOOKS, seeded(12), NOISE, tmp_path))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "rng-collision", (0, 1), Confidence.LIKELY,
    )  # fmt: skip
    assert found.locations == ("train.py:3", "train.py:5", "train.py:7")
    assert found.finding.title == (
        "Ranks 0, 1 draw the same numbers from noise.rng at train.py:7, though their processes are seeded with 11 "
        "and 12"
    )


def test_a_generator_that_was_another_one_on_each_rank_is_told_with_the_line_that_seeds_it_anew(tmp_path: Path) -> None:
    second = (in_another_state(LOOKS[0]), LOOKS[1])
    found = generators_alike.match(ranks_of(LOOKS, second, NOISE, tmp_path))
    assert found is not None
    assert found.locations[0] == "train.py:5"
    assert found.finding.title.endswith("though it was in another state on each until step 7")


def test_equal_seeds_ranks_apart_states_that_part_and_one_look_are_left_alone(tmp_path: Path) -> None:
    parted = (LOOKS[0], in_another_state(LOOKS[1]))
    healthy = [
        ranks_of(LOOKS, LOOKS, NOISE, tmp_path),
        ranks_of(LOOKS, seeded(12), NOISE, tmp_path, shared=False),
        ranks_of(LOOKS, seeded(12, *parted), NOISE, tmp_path),
        ranks_of(LOOKS[:1], seeded(12)[:1], NOISE, tmp_path),
        ranks_of(seeded(1 << 60), seeded(1 << 61), NOISE, tmp_path),  # nobody gave these
        ranks_of(seeded(None), seeded(12), NOISE, tmp_path),
    ]
    assert [generators_alike.match(one) for one in healthy] == [None] * len(healthy)


HANDED_ON = """\
def noisy(x, generator):
    return x + torch.randn(x.shape, generator=generator)
def train(loader, rng):
    for x in loader:
        noisy(x, rng)
"""
ALIKE_ON_PURPOSE = {
    "an order of samples": "order = torch.randperm(len(data), generator=self.rng)\n",
    "an order and noise": "torch.randperm(9, generator=self.rng)\ntorch.randn(x.shape, generator=self.rng)\n",
    "a choice of the size of all batches": "size = sizes[torch.randint(0, 4, (1,), generator=self.rng)]\n",
    "layers that all ranks leave out": "def kept(self):\n    return torch.rand(len(self.blocks), generator=self.rng)\n",
    "a share of one draw": "def noise(x, rank):\n"
    "    return torch.randn(x.shape, generator=self.rng).chunk(2)[rank]\n",
    "a perturbation of the weights": "def perturb(model):\n    for p in model.parameters():\n"
    "        p.data += torch.randn(p.shape, generator=self.rng)\n",
    "a loader's": "loader = DataLoader(data, shuffle=True, generator=self.rng)\n",
    "nothing that was found": "train()\n",
}  # fmt: skip


def test_a_generator_that_is_handed_on_is_followed(tmp_path: Path) -> None:
    found = generators_alike.match(ranks_of(LOOKS, seeded(12), HANDED_ON, tmp_path))
    assert found is not None
    assert found.locations == ("train.py:2",)


@pytest.mark.parametrize("why", ALIKE_ON_PURPOSE)
def test_what_ranks_draw_alike_on_purpose_is_left_alone(why: str, tmp_path: Path) -> None:
    assert generators_alike.match(ranks_of(LOOKS, seeded(12), ALIKE_ON_PURPOSE[why], tmp_path)) is None
