"""That parts in the wrong mode, dropout in evaluation and hooks that pile up are marked, and what is meant is not."""

from __future__ import annotations

import pytest

from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import HooksGrow, PartInEval

HEAD = """
    import torch
    from torch import nn
    from torch.nn import functional as F
    torch.manual_seed(1)
    x = torch.randn(8, 4)
    def part(): return nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 4))
    def sgd(model): return torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
    def steps(model, count=12, each=lambda: None):
        optimizer = sgd(model); each()
        for _ in range(count):
            optimizer.zero_grad(); model(x).pow(2).mean().backward(); optimizer.step(); each()
"""


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def _prints(watch, source: str) -> ParameterPrints:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints())


NORMS = "nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 4))"
LEFT = {
    "with dropout": "    steps(nn.Sequential(part().eval(), nn.Linear(4, 1)))\n",
    "with statistics of nothing": f"    steps(nn.Sequential({NORMS}.eval(), nn.Linear(4, 1)))\n",
}
MEANT = {
    "frozen": "    steps(nn.Sequential(part().eval().requires_grad_(False), nn.Linear(4, 1)))\n",
    "the whole model": "    steps(nn.Sequential(part(), nn.Linear(4, 1)).eval())\n",
    "after the optimizer was made": """
    model = nn.Sequential(part(), nn.Linear(4, 1)); optimizer = sgd(model); model[0].eval(); steps(model)
""",
    "one layer": "    steps(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5).eval(), nn.Linear(4, 1)))\n",
    "statistics that were estimated": f"""
    body = {NORMS}; body(x); body.eval(); steps(nn.Sequential(body, nn.Linear(4, 1)))
""",
    "a train of its own": """
    class Frozen(nn.Sequential):
        def train(self, mode=True): return super().train(mode) and self[0].eval()
    steps(Frozen(part().eval(), nn.Linear(4, 1)))
""",
    "back in train mode": "    model = nn.Sequential(part().eval(), nn.Linear(4, 1)); model.train(); steps(model)\n",
}


@pytest.mark.parametrize("how", LEFT)
def test_a_part_that_learns_in_eval_mode_is_marked_with_the_line_of_eval(watch, how: str) -> None:
    (mark,) = _prints(watch, LEFT[how]).marks_of(PartInEval)
    assert (mark.optimizer, mark.step, mark.root, mark.part) == (0, 10, "Sequential", "0")
    assert (mark.part_class, mark.learning, mark.library, len(mark.evaluating)) == (
        "Sequential",
        mark.learning,
        False,
        1,
    )
    assert mark.learning >= 4


@pytest.mark.parametrize("how", MEANT)
def test_a_mode_that_somebody_chose_is_not_marked(watch, how: str) -> None:
    assert _prints(watch, MEANT[how]).marks_of(PartInEval) == ()


HOOKED = """
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    def keep(*given): pass
    def look():
        handle = model[1].register_forward_hook(keep)
        %s
    steps(model, 45, look)
"""


def test_hooks_that_pile_up_are_marked_with_the_line_that_registers_them(watch) -> None:
    marks = _prints(watch, HOOKED % "").marks_of(HooksGrow)
    assert [(one.step, one.before, one.count) for one in marks] == [(20, 10, 20), (40, 20, 40)]
    assert {(one.module, one.function, one.path[0].function) for one in marks} == {("1 (Linear)", "keep", "look")}


def test_hooks_that_are_removed_are_not_marked(watch) -> None:
    assert _prints(watch, HOOKED % "handle.remove()").marks_of(HooksGrow) == ()
