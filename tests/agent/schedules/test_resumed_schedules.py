"""A schedule that begins anew in a run that was resumed is told; one that goes on or is meant so is not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.schedules import schedule_begins_anew
from diagnostics.diagnosis.signature import Match

HEAD = """
    import math, os, torch, warnings
    from torch import nn
    from torch.optim import lr_scheduler
    warnings.simplefilter("ignore")
    EPOCHS, STEPS = 12, 16
    def cosine(epoch):
        return (1 + math.cos(epoch * math.pi / EPOCHS)) / 2 + 0.01
    def parts(lr=0.1, kind=torch.optim.SGD):
        model = nn.Linear(4, 1)
        return model, kind(model.parameters(), lr=lr)
    def epoch_of(model, optimizer, each=None):
        for _ in range(STEPS):
            optimizer.zero_grad()
            (model(torch.randn(8, 4)) - 1).pow(2).mean().backward()
            optimizer.step()
            if each is not None:
                each.step()
    def first(make, kind=torch.optim.SGD, each=False, **more):
        model, optimizer = parts(kind=kind)
        scheduler = make(optimizer)
        for epoch in range(6):
            epoch_of(model, optimizer, scheduler if each else None)
            if not each:
                scheduler.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch,
                    **({"scheduler": scheduler.state_dict()} if more else {})}, "last.pt")
    def loaded(model, optimizer):
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state
    def by_lambda(optimizer, last=-1):
        return lr_scheduler.LambdaLR(optimizer, cosine, last_epoch=last)
    def by_cosine(optimizer, last=-1):
        return lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS, last_epoch=last)
    def by_cycle(optimizer):
        return lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=EPOCHS * STEPS)
    def goes_on(model, optimizer, scheduler, begin, until=EPOCHS):
        for epoch in range(begin, until):
            epoch_of(model, optimizer)
            scheduler.step()
"""
AFTER = """
    first(by_lambda)
    model, optimizer = parts()
    state = loaded(model, optimizer)
    goes_on(model, optimizer, by_lambda(optimizer), state["epoch"] + 1)
"""
BEFORE = """
    first(by_cycle, torch.optim.Adam, each=True)
    class Trainer:
        def __init__(self):
            self.model, self.optimizer = parts(kind=torch.optim.Adam)
            self.scheduler = by_cycle(self.optimizer)
            self.epoch = loaded(self.model, self.optimizer)["epoch"] + 1
        def run(self):
            while self.epoch < EPOCHS:
                epoch_of(self.model, self.optimizer, self.scheduler)
                self.epoch += 1
    Trainer().run()
"""
NOT_TAKEN = """
    first(by_cosine, scheduler=True)
    model, optimizer = parts()
    scheduler = by_cosine(optimizer)
    state = loaded(model, optimizer)
    goes_on(model, optimizer, scheduler, 0, 6)
"""
SET_ON = AFTER.replace(
    "goes_on(", "scheduler = by_lambda(optimizer)\n    for _ in range(6): scheduler.step()\n    goes_on("
).replace("optimizer, by_lambda(optimizer),", "optimizer, scheduler,")
TAKEN = NOT_TAKEN.replace("goes_on(", 'scheduler.load_state_dict(state["scheduler"])\n    goes_on(')
COUNTED_STEPS = """
    def by_steps(optimizer):
        return lr_scheduler.LambdaLR(optimizer, lambda step: max(0.05, 1 - step / 150))
    first(by_steps, torch.optim.Adam, each=True)
    os.rename("last.pt", "old.pt")
    torch.save(torch.load("old.pt")["optimizer"], "optimizer.pt")
    model, optimizer = parts(kind=torch.optim.Adam)
    optimizer.load_state_dict(torch.load("optimizer.pt"))
    scheduler = by_steps(optimizer)
    global_step = 96
    while global_step < 150:
        optimizer.zero_grad(); model(torch.randn(8, 4)).pow(2).mean().backward(); optimizer.step(); scheduler.step()
        global_step += 1
"""


def told(watch: Callable[..., Any], source: str) -> Match | None:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return schedule_begins_anew.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("source", "scheduler"),
    [
        (AFTER, "LambdaLR of main.py:34 begins"),
        (AFTER.replace("by_lambda", "by_cosine"), "CosineAnnealingLR of main.py:36 begins"),
        (BEFORE, "OneCycleLR of main.py:38 begins"),
        (NOT_TAKEN, "CosineAnnealingLR of main.py:36 begins"),
        (COUNTED_STEPS, "LambdaLR of main.py:45 begins"),
    ],
)
def test_a_schedule_that_begins_anew_while_the_run_goes_on_is_told(
    watch_warm: Callable[..., Any], source: str, scheduler: str
) -> None:
    found = told(watch_warm, source)
    assert found is not None
    assert found.failure_class == "wrong-schedule"
    assert found.finding.title.startswith(scheduler)


@pytest.mark.parametrize(
    "source",
    [
        AFTER.replace('state["epoch"] + 1', "0"),  # another training, with the moments of the first
        AFTER.replace("by_lambda(optimizer)", "by_lambda(optimizer, last=6)"),
        AFTER.replace("first(by_lambda)", "first(lambda one: lr_scheduler.ConstantLR(one, 1.0))"),  # no schedule before
        AFTER.replace(
            "by_lambda(optimizer)", "lr_scheduler.CosineAnnealingLR(optimizer, 6)"
        ),  # a restart, made for what is left
        AFTER.replace(
            "by_lambda(optimizer)",
            "(lambda left: lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 - epoch / left))(EPOCHS - 6)",
        ),
        SET_ON,
        TAKEN,
        NOT_TAKEN.replace("= by_cosine(optimizer)", "= lr_scheduler.CosineAnnealingLR(optimizer, 5)"),
        NOT_TAKEN.replace(", scheduler=True", ""),  # no counter goes on, no state was kept
    ],
)  # fmt: skip
def test_schedules_that_go_on_or_belong_to_another_training_are_no_fault(
    watch_warm: Callable[..., Any], source: str
) -> None:
    assert told(watch_warm, source) is None
