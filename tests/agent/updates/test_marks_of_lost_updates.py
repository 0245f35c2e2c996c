"""That passes, reductions and updates that are lost are marked, and those that are used are not."""

from __future__ import annotations

import pytest

from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import LostPasses, OpenReductions, RateByNumber, RoundedUpdates

HEAD = """
    import torch
    import torch.distributed as dist
    from torch import nn
    torch.manual_seed(1)
    x = torch.randn(8, 4)
    def net(): return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    def loss_of(model, x): return (model(x) - 1).pow(2).mean()
    def passes(optimizer, model, before, between, after):
        for _ in range(14):
            before()
            for part in x.split(2):
                between(); loss_of(model, part).backward(); after()
            optimizer.step()
    def nothing(): pass
    model = net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    zero = optimizer.zero_grad
"""
ONE_RANK = """
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    def steps(reduce):
        for _ in range(14):
            zero(); loss_of(model, x).backward(); reduce([p.grad for p in model.parameters()]); optimizer.step()
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


CLEARED = {
    "with zero_grad": "    passes(optimizer, model, nothing, zero, nothing)\n",
    "to zero": "    passes(optimizer, model, nothing, lambda: zero(set_to_none=False), nothing)\n",
    "before the step is clipped": """
    def clipped(): nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    for _ in range(14):
        for part in x.split(2): zero(); loss_of(model, part).backward()
        clipped(); optimizer.step()
""",
}


@pytest.mark.parametrize("how", CLEARED)
def test_micro_batches_that_are_cleared_are_marked_with_their_line(watch, how: str) -> None:
    (mark,) = _prints(watch, CLEARED[how]).marks_of(LostPasses)
    assert (mark.optimizer, mark.step, mark.run, mark.passes) == (0, 11, 10, 4)
    assert len(mark.backward) >= 1


PLAIN = """
    for _ in range(8): zero(); loss_of(model, x).backward(); optimizer.step()
"""


def test_micro_batches_that_begin_late_in_the_training_are_marked_where_they_are_cleared(watch) -> None:
    (mark,) = _prints(watch, PLAIN + CLEARED["with zero_grad"]).marks_of(LostPasses)
    assert (mark.optimizer, mark.run, mark.passes) == (0, 10, 4)
    assert mark.step > 8


USED = {
    "accumulated late": PLAIN + "    passes(optimizer, model, zero, nothing, nothing)\n",
    "accumulated": "    passes(optimizer, model, zero, nothing, nothing)\n",
    "one pass a step": """
    for _ in range(14): zero(); loss_of(model, x).backward(); optimizer.step()
""",
    "put together by hand": """
    for _ in range(14):
        kept = []
        for part in x.split(2):
            zero(); loss_of(model, part).backward(); kept.append([p.grad for p in model.parameters()])
        for p, *given in zip(model.parameters(), *kept): p.grad = sum(given)
        optimizer.step()
""",
    "weights moved between": """
    for _ in range(14):
        for part in x.split(4):
            zero(); loss_of(model, part).backward()
            with torch.no_grad():
                for p in model.parameters(): p.add_(p.grad, alpha=1e-3)
        optimizer.step()
""",
    "a measure before": """
    for _ in range(14):
        for part in x.split(2): zero(); loss_of(model, part).backward()
        zero(); loss_of(model, x).backward(); optimizer.step()
""",
    "a generator's turn": """
    judge = net(); other = torch.optim.SGD(judge.parameters(), lr=0.01)
    maker = nn.Linear(4, 4); last = torch.optim.SGD(maker.parameters(), lr=0.01)
    for _ in range(14):
        for opt, given in ((other, x), (last, maker(x))):
            other.zero_grad(); last.zero_grad(); loss_of(judge, given).backward(); opt.step()
""",
}


FRESH = """
    model = net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.01); zero = optimizer.zero_grad
"""


def test_passes_that_a_program_uses_are_not_marked(watch) -> None:
    # Lambdas look up `zero` when they are called: each way has a model and an optimizer of its own.
    assert _prints(watch, "".join(FRESH + way for way in USED.values())).marks_of(LostPasses) == ()


def test_a_step_that_does_not_wait_for_its_gradients_is_marked_with_what_it_waits_for(watch) -> None:
    source = ONE_RANK + "    steps(lambda held: [dist.all_reduce(g, async_op=True) for g in held][-1].wait())\n"
    (mark,) = _prints(watch, source).marks_of(OpenReductions)
    assert (mark.optimizer, mark.step, mark.run) == (0, 10, 10)
    assert (mark.open, mark.gradients, mark.waited, mark.operation) == (3, 4, 1, "all_reduce")
    assert all(path for path in (mark.started, mark.waiting, mark.stepped))


WAITED = {
    "each handle": "    steps(lambda held: [w.wait() for w in [dist.all_reduce(g, async_op=True) for g in held]])\n",
    "by futures": "    steps(lambda held: torch.futures.wait_all("
    "[dist.all_reduce(g, async_op=True).get_future() for g in held]))\n",
    "at once": "    steps(lambda held: [dist.all_reduce(g) for g in held])\n",
    "of a metric that is no gradient": """
    def reduce(held):
        for g in held: dist.all_reduce(g)
        dist.all_reduce(torch.ones(6, 4), async_op=True)
    steps(reduce)
""",
}


def test_a_step_whose_gradients_are_whole_is_not_marked(watch) -> None:
    assert _prints(watch, ONE_RANK + "".join(WAITED.values())).marks_of(OpenReductions) == ()


LOW = """
    model = net().to(torch.bfloat16); optimizer = torch.optim.AdamW(model.parameters(), lr={rate})
    for _ in range(181):
        zero = optimizer.zero_grad(); loss_of(model, torch.randn(8, 4).bfloat16()).backward(); optimizer.step()
"""


def test_how_many_low_precision_weights_moved_is_told_for_each_rate_and_for_no_float32(watch) -> None:
    full = LOW.format(rate=1e-6).replace(".to(torch.bfloat16)", "").replace(".bfloat16()", "")
    marks = _prints(watch, LOW.format(rate=1e-6) + LOW.format(rate=1e-2) + full).marks_of(RoundedUpdates)
    told = [(one.optimizer, one.steps, one.kind, one.rate) for one in marks]
    assert told == [(o, s, "torch.bfloat16", r) for o, r in ((0, 1e-6), (1, 1e-2)) for s in (40, 80)]
    assert all(one.graded > 20 for one in marks)
    assert [one.moved / one.graded > 0.5 for one in marks][:3] == [False, False, True]  # then it has learned all


def test_a_rate_that_is_lowered_by_a_number_is_marked_with_it_and_its_line(watch) -> None:
    source = """
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    for number in (1.0, 2.0, torch.tensor(3.0), 0.5):
        zero(); loss_of(model, x).backward(); optimizer.step(); plateau.step(number)
"""
    (mark,) = _prints(watch, source).marks_of(RateByNumber)
    assert (mark.optimizer, mark.step, mark.before, mark.rate, mark.number) == (0, 3, 0.01, 0.005, 3.0)
    assert (mark.scheduler, len(mark.path)) == ("ReduceLROnPlateau", 1)
