"""A plateau that waits for the opposite of what it is given is told; one that waits for it is not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.schedules import plateau_waits_the_wrong_way
from diagnostics.diagnosis.signature import Match

HEAD = """
    import torch
    from torch import nn
    from torch.optim.lr_scheduler import ReduceLROnPlateau
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    x = torch.randn(64, 4)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [1.5]])
    def epoch():
        for _ in range(4):
            optimizer.zero_grad()
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            optimizer.step()
        return loss.item()
    RISES = [k / 384 for k in (31, 64, 73, 81, 91, 91, 95, 97, 99, 103)]
    def plateau(mode="min"):
        return ReduceLROnPlateau(optimizer, mode=mode, patience=1)
"""
BY_NAME = """
    scheduler = plateau()
    for number in RISES:
        epoch(); metrics = {"loss": 1 - number / 2, "accuracy": number}
        scheduler.step(metrics["accuracy"])
"""
BY_MONITOR = """
    class Callback:
        def __init__(self, monitor):
            self.monitor, self.scheduler = monitor, plateau()
        def epoch_end(self, logs):
            if self.monitor in logs:
                self.scheduler.step(float(logs[self.monitor]))
    callback = Callback("val/f1")
    for number in RISES:
        epoch(); callback.epoch_end({"val/f1": torch.tensor(number), "val/loss": 1 - number})
"""
BY_TEXT = """
    scheduler = plateau()
    for number in RISES:
        epoch(); right = torch.tensor(number)
        scheduler.step(100 * right / dict(accuracy=1)["accuracy"])
"""
SHARES = """
    scheduler = plateau()
    for number in RISES:
        epoch(); scheduler.step(number)
"""
LOSS_IN_MAX = """
    scheduler = plateau("max")
    for _ in range(12):
        scheduler.step(epoch())
"""


def told(watch: Callable[..., Any], source: str) -> Match | None:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return plateau_waits_the_wrong_way.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("source", "given"),
    [
        (BY_NAME, '"min" and is given `accuracy`'),
        (BY_MONITOR, '"min" and is given `val/f1`'),
        (BY_TEXT, '"min" and is given `accuracy`'),
        (SHARES, '"min" and is given shares of 384 samples, as accuracies are'),
        (LOSS_IN_MAX, '"max" and is given a loss, which goes along with that of the backward passes'),
    ],
)
def test_a_plateau_that_is_given_the_opposite_of_its_mode_is_told(
    watch_warm: Callable[..., Any], source: str, given: str
) -> None:
    found = told(watch_warm, source)
    assert found is not None
    assert found.failure_class == "wrong-schedule"
    assert found.finding.title.startswith("ReduceLROnPlateau of main.py:19 has mode=")
    assert given in found.finding.title


@pytest.mark.parametrize(
    "source",
    [
        BY_NAME.replace("plateau()", 'plateau("max")'),
        BY_NAME.replace('metrics["accuracy"]', 'metrics["loss"]'),
        BY_NAME.replace('metrics["accuracy"]', '-metrics["accuracy"]'),
        SHARES.replace("RISES", "[one / 0.7 for one in (1.0, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5)]"),  # a model that overfits
        BY_NAME.replace('"accuracy"', '"val_error"'),
        SHARES.replace("RISES", "[0.5, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]"),  # got better once
        SHARES.replace("step(number)", "step(-number)").replace("plateau()", 'plateau("max")'),  # gets worse
        LOSS_IN_MAX.replace("step(epoch())", "step(-epoch())"),
        "    number = 7.0; scheduler = plateau('max')\n"
        "    for _ in range(9): epoch(); number -= 0.1; scheduler.step(number)\n",  # a reward that falls
    ],
)
def test_a_plateau_that_is_given_what_it_waits_for_or_what_gets_worse_is_no_fault(
    watch_warm: Callable[..., Any], source: str
) -> None:
    assert told(watch_warm, source) is None
