"""What a script takes along does what the tries do."""

from __future__ import annotations

import importlib
import sys
import types
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from diagnostics.bisection.repro.harness import CUT

CHILDREN = Path(__file__).parents[3] / "diagnostics" / "children"
PACKAGE = "children_of_pieces"


class Named(nn.Sequential):
    """A constructor of its own, as torchvision's ConvNormActivation has one."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__(*(nn.Linear(width, width + at) for at in range(depth)))


CONTAINERS = {
    "sequential": lambda: nn.Sequential(*(nn.Linear(1, at + 1) for at in range(4))),
    "sequential with names": lambda: nn.Sequential(OrderedDict((name, nn.Linear(1, 1)) for name in "wxyz")),
    "sequential of its own": lambda: Named(2, 4),
    "list": lambda: nn.ModuleList(nn.Linear(1, at + 1) for at in range(4)),
    "dict": lambda: nn.ModuleDict({name: nn.Linear(1, 1) for name in "wxyz"}),
}


@pytest.fixture
def cut_of_tries() -> Iterator[Any]:
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(CHILDREN)]
    sys.modules[PACKAGE] = package
    yield importlib.import_module(f"{PACKAGE}.trial.cuts").cut
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_containers_are_cut_as_in_the_tries(kind: str, cut_of_tries: Any) -> None:
    space: dict[str, Any] = {"torch": torch}
    exec(CUT, space)  # noqa: S102 - our own text
    ours, tried = CONTAINERS[kind](), CONTAINERS[kind]()
    space["cut"](ours, [1, 3])
    cut_of_tries(tried, "", [1, 3])
    assert [(name, repr(one)) for name, one in ours.named_children()] == [
        (name, repr(one)) for name, one in tried.named_children()
    ]
    assert len(ours) == 2
