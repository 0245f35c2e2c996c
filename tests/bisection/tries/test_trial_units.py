"""Which modules a sharding wrapper takes one by one, and what is no number or differs, seen in this process."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import torch
from torch import nn

CHILDREN = Path(__file__).parents[3] / "diagnostics" / "children"


def part(name: str) -> Any:
    """Returns a module of the child, loaded as the child loads it."""
    package = sys.modules.setdefault("ups_doctor_children", types.ModuleType("ups_doctor_children"))
    package.__path__ = [str(CHILDREN)]
    return importlib.import_module(f"ups_doctor_children.{name}")


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.parts(x)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.levels = nn.ModuleList([nn.ModuleList([Block(), Block()]), Block(), nn.ReLU(), nn.Linear(4, 8)])
        self.names = nn.ModuleDict({"a": Block()})
        self.head = nn.Linear(4, 8)
        self.head.weight = self.levels[3].weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def paths(model: nn.Module) -> list[str]:
    wanted = [id(one) for one in part("trial.units").units(model)]
    return [path for path, one in model.named_modules() if id(one) in wanted]


def test_blocks_of_nested_lists_are_units_and_tied_ones_are_not() -> None:
    assert paths(Tied()) == ["levels.0.0", "levels.0.1", "levels.1", "names.a"]


def test_a_module_held_below_places_that_nobody_calls_is_a_unit() -> None:
    model = nn.Module()
    model.blocks = nn.Module()
    model.blocks.add_module("1", nn.Module())
    model.blocks.get_submodule("1").add_module("first", Block())
    assert paths(model) == ["blocks.1.first"]


def test_values_that_are_no_numbers_are_found_in_every_kind_of_tensor() -> None:
    finite = part("trial_observers.nonfinite").finite
    assert all(finite(one) for one in (torch.ones(2), torch.tensor([1, 2]), torch.tensor([True]), torch.ones(0)))
    assert finite(torch.ones(2, 2).to_sparse())
    assert not finite(torch.tensor([1.0, float("inf")]))
    assert not finite(torch.tensor([complex(float("nan"), 0)]))
    assert not finite(torch.tensor([[float("nan"), 0.0]]).to_sparse())


def test_digests_tell_values_names_and_missing_gradients_apart() -> None:
    digests = part("trial_observers.digests")
    model = nn.Linear(2, 2)
    before = digests.gradients(model)
    model(torch.ones(1, 2)).sum().backward()
    assert digests.gradients(model) != before
    assert digests.parameters(nn.Sequential(model)) != digests.parameters(model)
    half = nn.Linear(2, 2).to(torch.bfloat16)
    assert digests.parameters(half) == digests.parameters(half)


def test_blocks_are_checkpointed_one_by_one_and_no_block_inside_another() -> None:
    model = Tied()
    part("trial.checkpointing").add(model)
    replaced = [path for path, one in model.named_modules() if "forward" in vars(one)]
    assert replaced == ["levels.0.0", "levels.0.1", "levels.1", "names.a"]


def test_parts_of_a_model_without_blocks_are_checkpointed() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    model.add_module("encoder", nn.Sequential(nn.Linear(2, 2)))
    part("trial.checkpointing").add(model)
    assert [path for path, one in model.named_modules() if "forward" in vars(one)] == ["encoder"]
