"""The dotted path of a module whose constructor failed, for the ways in which people write constructors."""

from __future__ import annotations

import pytest

from diagnostics.dynamic.job.last_activity import last_activity

MODELS = """
from torch import nn


class Bad(nn.Module):
    def __init__(self, ok=False):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        if not ok:
            raise ValueError("bad")


class Special(Bad):
    def __init__(self, ok=False):
        super().__init__(ok=True)
        self.more = nn.LayerNorm(2)
        if not ok:
            raise ValueError("special")


def make(ok=False):
    return Bad(ok)


class Attribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Bad(ok=True)
        self.second: nn.Module = Bad()


class Arguments(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, 2),
            Bad(ok=True),
            nn.ReLU(),
            Bad(),
        )


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList()
        for index in range(4):
            self.blocks.append(Special(ok=index != 2))


class Local(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for index in range(4):
            layer = Bad(ok=index != 3)
            layers.append(layer)
        self.layers = nn.Sequential(*layers)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("attention", Bad())


class Factory(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = make()


class Keys(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"u": nn.Linear(2, 2), "p": Bad()})


class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.norm = nn.LayerNorm(2)
        self.child = Deep(depth - 1) if depth else Special()


class Trainer:
    def __init__(self, kind, *rest):
        self.model = kind(*rest)
"""
DRIVER = """
import os, sys
import models
for name in sys.stdin.read().split() or "Bad Special Attribute Arguments Loop Local Named Factory Keys Deep".split():
    pid = os.fork()
    if not pid:
        sys.stderr = open(os.devnull, "w")
        models.Trainer(getattr(models, name), *([2] if name == "Deep" else []))
    os.waitpid(pid, 0)
    print(name, pid)
"""
EXPECTED = {
    "Bad": ("", "Bad", "Bad"),
    "Special": ("", "Special", "Special"),
    "Attribute": ("second", "Bad", "Attribute"),
    "Arguments": ("net.3", "Bad", "Arguments"),
    "Loop": ("blocks.2", "Special", "Loop"),
    "Local": ("layers.3", "Bad", "Local"),
    "Named": ("attention", "Bad", "Named"),
    "Factory": ("inner", "Bad", "Factory"),
    "Keys": ("heads.p", "Bad", "Keys"),
    "Deep": ("child.child.child", "Special", "Deep"),
}


@pytest.fixture(scope="module")
def names(tmp_path_factory, watcher):
    run = watcher(tmp_path_factory.mktemp("names"))(DRIVER, files={"models.py": MODELS})
    assert run.returncode == 0, run.stderr
    found = {}
    for name, pid in (line.split() for line in run.stdout.splitlines()):
        agent = run.record.of_pid(int(pid))
        death = last_activity(agent, None, agent.last_event("exception"))
        assert death.activity == "construct"
        found[name] = (death.module.path, death.module.class_name, death.module.root_class)
    return found


@pytest.mark.parametrize("name", EXPECTED)
def test_the_module_under_construction_has_its_dotted_path(names, name):
    assert names[name] == EXPECTED[name]
