from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_model import CRASH, job_from_record

from diagnostics.bisection.search.suspicion import never_reached, part_tree, pointed_at
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial

NODES = (
    ModuleNode(path="", class_name="Net", place="model.py:60", entered=1),
    ModuleNode(path="blocks", class_name="ModuleList", container=True),
    ModuleNode(path="blocks.0", class_name="Block", place="model.py:40", entered=1, calls=1),
    ModuleNode(path="blocks.0.norm", class_name="LayerNorm", entered=1, calls=1, parameters=4),
    ModuleNode(path="blocks.0.attn", class_name="Attention", place="model.py:20", entered=1),
    ModuleNode(path="blocks.1", class_name="Block", place="model.py:40", also=("again",)),
    ModuleNode(path="blocks.1.norm", class_name="LayerNorm", parameters=4),
    ModuleNode(path="blocks.1.attn", class_name="Attention", place="model.py:20"),
)


def failing(**changes: object) -> Trial:
    return Trial(case=job_from_record(), failure=replace(CRASH, **changes), tree=NODES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "pointed"),
    [
        ({"module": "blocks.0.attn"}, ("blocks.0.attn",)),
        ({"module": "module.blocks.0._fsdp_wrapped_module.attn"}, ("blocks.0.attn",)),
        ({"module": "loss", "places": ("model.py:25 forward",)}, ("blocks.0.attn", "blocks.1.attn")),
        ({"places": ("model.py:45 forward", "model.py:99 forward")}, ("", "blocks.0", "blocks.1")),
        (
            {"places": ("torch/nn/modules/normalization.py forward < model.py:45 forward",)},
            ("blocks.0.norm", "blocks.1.norm"),
        ),
        ({"places": ("model.py:5 helper",)}, ()),
        ({"places": ("data.py:25 load",)}, ()),
        ({"places": ()}, ()),
    ],
)
def test_what_a_failure_points_at(changes: dict[str, object], pointed: tuple[str, ...]) -> None:
    assert pointed_at(NODES, failing(**changes)) == pointed


def test_half_of_the_weight_is_on_what_the_failure_points_at() -> None:
    tree = part_tree(NODES, failing(module="blocks.0.attn"))
    total = sum(part.weight for part in tree.parts.values())
    assert 0.5 < tree.parts["blocks.0.attn"].weight / total < 0.7


def test_a_module_that_two_hold_lies_below_what_holds_both_and_goes_with_each() -> None:
    nodes = (*NODES, ModuleNode(path="blocks.0.act", class_name="Act", also=("blocks.1.act",)))
    tree = part_tree(nodes, failing())
    assert tree.parts["blocks.0.act"].parent == "blocks"
    assert "blocks.0.act" in tree.below("blocks.0") & tree.below("blocks.1")


@pytest.mark.parametrize(
    ("changes", "reached"),
    [
        ({}, False),
        ({"step": 2}, True),
        ({"phase": "backward"}, True),
        ({"ranks": (1,)}, True),
        ({"kind": FailureKind.HANG}, True),
    ],
)
def test_modules_after_a_crash_in_the_first_forward_are_left_out(changes: dict[str, object], reached: bool) -> None:
    late = frozenset() if reached else frozenset({"blocks", "blocks.1", "blocks.1.norm", "blocks.1.attn"})
    assert never_reached(failing(**changes)) == late


def test_nothing_is_left_out_where_nobody_saw_what_was_reached() -> None:
    unseen = Trial(case=job_from_record(), failure=CRASH, tree=tuple(replace(node, entered=0) for node in NODES))
    assert never_reached(unseen) == frozenset()


def test_an_unused_parameter_points_at_what_never_calls_its_module() -> None:
    message = "Parameter indices which did not receive grad for rank 0: 3"
    unused = Failure(kind=FailureKind.EXCEPTION, detail="RuntimeError", message=message, phase="forward", step=2)
    nodes = [replace(node, entered=0, calls=0) if node.path == "blocks.0.norm" else node for node in NODES[:5]]
    assert pointed_at(nodes, Trial(case=job_from_record(), failure=unused)) == ("blocks.0",)
