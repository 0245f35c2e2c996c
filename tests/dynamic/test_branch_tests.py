"""A test of the rank that both sides pass alike does not part them, and one of what a rank has in hand may."""

from __future__ import annotations

from dataclasses import replace

import pytest
from marked_source import marked

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.localisation import divergence_points

PIPELINE = """
import torch.distributed as dist
class Probe:
    def drain(self):
        return {name: sum(values) for name, values in self.buffer.items()}
    def gather(self):
        local = self.drain()
        if not local:  # first
            return {}
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, local)  # H2
        return parts
class Trainer:
    def __init__(self):
        self.stage = dist.get_rank()
        self.probe = Probe()
    def step(self, x):
        if self.stage > 0:
            dist.recv(x, src=self.stage - 1)  # T2
        if self.forward:
            dist.send(x, dst=1)  # A2
    def fit(self):
        for step in range(1, 60):
            self.step(x)  # A1 T1
            if step % 20 == 0:
                self.probe.gather()  # H1
Trainer().fit()  # A0 H0 T0
"""
RECV, SEND = "dist.recv(", "dist.send("
GUARD = "if self.stage > 0:"


def first_decision(made_here: tuple[str, ...], made_there: tuple[str, ...], text: str = PIPELINE) -> str:
    """Returns the text of the first decision where the ranks of each side have made these calls before."""
    job = marked(text)
    lines = text.strip("\n").splitlines()
    sides = tuple(
        frozenset(
            Frame(file="/job/train.py", line=number, function="Trainer.step")
            for number, line in enumerate(lines, 1)
            if any(one in line for one in calls)
        )
        for calls in (made_here, made_there)
    )
    found = divergence_points(job.sources, replace(job.parting, made=(sides[0], sides[1])))
    return found[0].text.partition("  #")[0] if found else ""


def test_a_test_of_the_rank_behind_which_both_have_received_is_not_where_they_part() -> None:
    assert first_decision((RECV, SEND), (RECV, SEND)) == "if not local:"


@pytest.mark.parametrize(
    ("here", "there"),
    [((SEND,), (RECV, SEND)), ((), ()), ((RECV, SEND), (SEND,))],
    ids=["never here", "unknown", "not there"],
)
def test_where_one_of_them_has_not_the_rank_may_part_them(here: tuple[str, ...], there: tuple[str, ...]) -> None:
    assert first_decision(here, there) == GUARD


@pytest.mark.parametrize(
    "test", ["if self.stage == step % 2:", "if self.stage > self.turn:", "if self.stage in asked():"],
    ids=["by the round", "what a method changes", "what a call gives"],
)  # fmt: skip
def test_a_test_that_comes_out_otherwise_in_another_round_may_part_them_all_the_same(test: str) -> None:
    text = PIPELINE.replace(GUARD, test).replace(
        "    def step(self, x):", "    def step(self, x):\n        self.turn += 1"
    )
    assert first_decision((RECV, SEND), (RECV, SEND), text) == test


@pytest.mark.parametrize(
    "made",
    [
        "self.drain()",
        "[one for one in self.buffer]",
        "{}\n        for name in self.buffer:\n            local[name] = 1",
        "[]\n        for name in self.buffer:\n            local.append(name)",
    ],
)
def test_an_early_return_for_want_of_what_was_gathered_comes_before_what_all_ask_alike(made: str) -> None:
    text = PIPELINE.replace("local = self.drain()", f"local = {made}")
    assert first_decision((RECV, SEND), (RECV, SEND), text) == "if not local:"


def test_a_setting_is_no_container() -> None:
    text = PIPELINE.replace("local = self.drain()", "local = self.enabled")
    found = divergence_points(marked(text).sources, marked(text).parting)
    assert [one.by_size for one in found if one.text.startswith("if not local")] == [False]
