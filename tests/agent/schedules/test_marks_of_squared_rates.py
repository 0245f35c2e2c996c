"""That a LambdaLR which was given rates for factors is marked, and no schedule that is right is."""

from __future__ import annotations

import pytest

from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import RateSquared

HEAD = """
    import math
    import torch
    from torch.optim.lr_scheduler import LambdaLR
    x, net = torch.randn(8, 4), torch.nn.Linear(4, 1)
    def go(optimizer, schedule, steps=40, every=1):
        for step in range(steps):
            optimizer.zero_grad(); net(x).mean().backward(); optimizer.step()
            if not (step + 1) % every: schedule.step()
    def sgd(lr): return torch.optim.SGD(net.parameters(), lr=lr)
    def apart(lr): return torch.optim.SGD([{"params": [net.weight], "lr": lr}, {"params": [net.bias], "lr": 2 * lr}])
"""
WRONG = {
    "decay": "o = sgd(0.01); go(o, LambdaLR(o, lambda step: 0.01 * 0.95 ** step))",
    "epochs": "o = sgd(1e-3); go(o, LambdaLR(o, lambda e: 1e-3 if e < 2 else 1e-4), every=8)",
    "warm-up": "o = sgd(0.02); go(o, LambdaLR(o, lambda s: 0.02 * min((s + 1) / 5, 1, 9 / (s + 1))))",
    "groups": "o = apart(0.01); go(o, LambdaLR(o, lambda step: 0.01 * 0.9 ** step))",
}
RIGHT = {
    "factors": "o = sgd(0.01); go(o, LambdaLR(o, lambda step: 0.95 ** step))",
    "a warm-up that goes on": "o = sgd(0.01); go(o, LambdaLR(o, lambda e: (e + 1) / 100), every=39)",
    "a rate of 1": "o = sgd(1.0); go(o, LambdaLR(o, lambda step: 0.01 * 0.9 ** step))",
    "a tenth of 0.1": "o = sgd(0.1); go(o, LambdaLR(o, lambda step: 0.1 * 0.9 ** step))",
    "constant, and small": "o = sgd(0.01); go(o, LambdaLR(o, lambda step: 0.01))",
    "restarts": "o = sgd(0.01); go(o, LambdaLR(o, lambda s: (math.cos(s % 9 / 9 * 3.2) + 1) / 2))",
    "resumed late": "o = sgd(0.01); schedule = LambdaLR(o, lambda e: 0.1 ** (e // 15))\n"
    "    schedule.load_state_dict({**schedule.state_dict(), 'last_epoch': 30}); o.param_groups[0]['lr'] = 1e-4\n"
    "    go(o, schedule)",
    "a frozen backbone's group": "o = apart(0.01)\n"
    "    go(o, LambdaLR(o, [lambda s: 0.01 * 0.9 ** s, lambda s: 0.9 ** s]))",
}


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def _told(watch, source: str) -> list[RateSquared]:
    run = watch(HEAD + "    " + source + "\n")
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return list(
        run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints()).marks_of(RateSquared)
    )


@pytest.mark.parametrize("kind", WRONG)
def test_a_function_that_returns_rates_is_marked_with_its_line(watch, kind: str) -> None:
    (mark,) = _told(watch, WRONG[kind])
    assert mark.peak == pytest.approx(mark.base**2)
    assert mark.rate < mark.peak
    assert [one.function for one in mark.made] == ["<module>"]


@pytest.mark.parametrize("kind", RIGHT)
def test_a_schedule_that_is_right_leaves_no_mark(watch, kind: str) -> None:
    assert _told(watch, RIGHT[kind]) == []


def test_a_rate_that_rises_above_the_square_is_told_anew(watch) -> None:
    dip = "o = sgd(0.01); go(o, LambdaLR(o, lambda s: 0.01 * 0.9 ** s if s < 20 else 1.0))"
    first, later = _told(watch, dip)
    assert (first.peak, later.peak) == (pytest.approx(1e-4), pytest.approx(0.01))
