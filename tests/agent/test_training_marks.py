"""What the agent marks of how a process trains, and that a plain job leaves no mark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnostics.record.marks.run_marks import EmptyPass
from diagnostics.record.marks.schedule_marks import SchedulePaced
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import (
    EvalModeLeft,
    EvaluatedInTrain,
    FirstNotFinite,
    KeptGradients,
    LeafLosses,
    LossLeftOut,
    NothingLoaded,
    RateGone,
    ReadState,
    SavedFile,
    ScalerSkips,
    TensorRange,
)

HEAD = """
    import copy, gc, weakref
    import torch
    from torch import nn
    torch.manual_seed(1)
    x = torch.randn(8, 4)
    def net(): return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 1))
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


FAULTY = """
    class Log(nn.Module):
        def forward(self, x): return x.log()

    kept = net(); optimizer = torch.optim.SGD(kept.parameters(), lr=1e-3)
    for _ in range(12):
        kept(x).sum().backward(); optimizer.step()

    left = net(); optimizer = torch.optim.SGD(left.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: float(step < 5))
    for step in range(16):
        if step == 3: left.eval()
        optimizer.zero_grad(); left(x).sum().backward(); optimizer.step(); scheduler.step()

    scaled = nn.Linear(4, 1); optimizer = torch.optim.SGD(scaled.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(25):
        optimizer.zero_grad(); scaler.scale(scaled(x).sum() * float("inf")).backward()
        scaler.step(optimizer); scaler.update()

    for _ in range(10): torch.tensor(1.0, requires_grad=True).backward()
    print(left.load_state_dict({"module.a": x}, strict=False).unexpected_keys)
    torch.save({"model": {}, "epoch": 3}, "empty.pt")

    logged = nn.Sequential(nn.Linear(4, 6), Log())
    for _ in range(10):
        loss = logged(x).sum()
        if not torch.isfinite(loss): continue
        loss.backward()
"""

IN_GROUP = """
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    model = net()
    for step in range(9):
        loss = model(x).sum() if step % 2 else torch.tensor(0.0, requires_grad=True)
        loss.backward()
    dist.destroy_process_group()
"""


def test_a_pass_of_nothing_is_marked_where_ranks_work_together_and_the_first_three_alone(watch):
    passes = _prints(watch, IN_GROUP).marks_of(EmptyPass)
    assert [(one.number, [frame.line for frame in one.path]) for one in passes] == [(1, [14]), (3, [14]), (5, [14])]


def test_a_pass_of_nothing_of_a_process_by_itself_is_not_marked_at_once(watch):
    alone = IN_GROUP.replace("dist.init", "0 and dist.init").replace("dist.destroy", "0 and dist.destroy")
    assert _prints(watch, alone).marks_of(EmptyPass) == ()


def test_what_is_wrong_for_many_steps_is_marked_with_its_lines(watch):
    prints = _prints(watch, FAULTY)

    (kept,) = prints.marks_of(KeptGradients)
    assert (kept.optimizer, kept.step, kept.run, kept.read) == (0, 11, 10, True)
    assert ([one.line for one in kept.stepped], [one.line for one in kept.backward]) == ([14], [14])
    (left,) = prints.marks_of(EvalModeLeft)
    assert (left.optimizer, left.step, left.run, left.trained) == (1, 13, 10, 3)
    assert (left.root, left.module, [one.line for one in left.evaluating]) == ("Sequential", "1 (BatchNorm1d)", [19])
    (gone,) = prints.marks_of(RateGone)
    assert (gone.optimizer, gone.step, gone.run, gone.first, gone.rate, gone.peak) == (1, 15, 10, 6, 0.0, 1e-3)
    assert (gone.scheduler, gone.stepped, [one.line for one in gone.made]) == ("LambdaLR", 14, [17])
    (scaled,) = prints.marks_of(ScalerSkips)
    assert (scaled.optimizer, scaled.run, scaled.steps, [one.line for one in scaled.path]) == (None, 25, 0, [26])
    (leaf,) = prints.marks_of(LeafLosses)
    assert (leaf.run, leaf.backwards, [one.line for one in leaf.path]) == (10, 63, [28])
    (loaded,) = prints.marks_of(NothingLoaded)
    assert (loaded.root, loaded.keys, loaded.given, loaded.wanted[:1]) == (
        "Sequential",
        1,
        ("module.a",),
        ("0.weight",),
    )
    (saved,) = prints.marks_of(SavedFile)
    assert (saved.file.rpartition("/")[2], saved.empty, saved.ended_ns > saved.began_ns) == ("empty.pt", True, True)
    assert saved.counter == 3
    out = [(one.run, one.step, one.name, [frame.line for frame in one.path]) for one in prints.marks_of(LossLeftOut)]
    assert out == [(8, 28, "", [25]), (16, 28, "", [25]), (8, 28, "loss", [34]), (9, 28, "isfinite()", [35])]
    assert all(one.loss != one.loss or abs(one.loss) == float("inf") for one in prints.marks_of(LossLeftOut))
    origins = prints.marks_of(FirstNotFinite)
    assert [(one.module, one.class_name) for one in origins] == [(None, "Linear"), (None, "Linear"), ("1", "Log")]
    (given,) = origins[-1].inputs
    assert replace(given, least=0.0, most=0.0, rms=0.0) == TensorRange(
        shape="8x6", read=48, bad=0, least=0.0, most=0.0, rms=0.0
    )


HEALTHY = """
    model = net(); optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
    for step in range(40):
        model.train()
        for part in x.split(2): scaler.scale(model(part).pow(2).sum()).backward()
        if step == 7: model[0].weight.grad.fill_(float("nan"))
        scaler.step(optimizer); scaler.update(); scheduler.step()
        for one in model.parameters(): one.grad.data.zero_()
        model.eval()
        with torch.no_grad():
            for _ in range(6): model(x)
    closed = nn.Linear(4, 1); search = torch.optim.LBFGS(closed.parameters(), lr=0.1)
    def closure():
        search.zero_grad(); loss = closed(x).pow(2).mean(); loss.backward(); return loss
    for _ in range(12): search.step(closure)
    frozen = net().eval(); tuned = torch.optim.SGD(frozen.parameters(), lr=1e-3)
    for _ in range(12): tuned.zero_grad(); frozen(x).sum().backward(); tuned.step()
    by_hand = nn.Linear(4, 1); own = torch.optim.SGD(by_hand.parameters(), lr=1e-3)
    for _ in range(12):
        for one, given in zip(by_hand.parameters(), torch.autograd.grad(by_hand(x).sum(), by_hand.parameters())):
            one.grad = given
        own.step()
    made, judge = net(), nn.Linear(1, 1)
    first, second = (torch.optim.SGD(one.parameters(), lr=1e-3) for one in (made, judge))
    for _ in range(4):
        first.zero_grad(); judge(made(x)).sum().backward(); first.step()
        for _ in range(6):
            with torch.no_grad(): drawn = made(x)
            second.zero_grad(); judge(drawn).sum().backward(); second.step()
    model.load_state_dict(copy.deepcopy(model.state_dict()))
    ended = weakref.ref(model[0]); del model, optimizer, scheduler, frozen, tuned, one, part; gc.collect()
    print(ended() is None, torch.rand(1).item())
"""


def test_a_job_that_does_all_this_on_purpose_leaves_no_mark_and_notices_nothing(watch):
    marks = _prints(watch, HEALTHY).marks
    assert [one for one in marks if not isinstance(one, SchedulePaced)] == []  # how long a schedule is, is no fault
    alone, seen = watch(HEAD + HEALTHY, watched=False).stdout, watch(HEAD + HEALTHY).stdout
    assert alone.startswith("True ")
    assert seen == alone


RESUMED = """
    model = nn.Linear(4, 1); optimizer = torch.optim.Adam(model.parameters())
    def state(epoch): return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    def step(): optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
    if not __import__("os").path.exists("last.pt"):
        step(); torch.save(state(4), "last.pt")
        __import__("os")._exit(0)
    model.load_state_dict(torch.load("last.pt")["model"])
    step(); torch.save(state(0), "last.pt"); torch.load("last.pt")
"""


def test_a_state_that_is_read_before_the_first_step_is_marked_with_what_it_counts(watch):
    watch(HEAD + RESUMED)
    run = watch(HEAD + RESUMED)
    (marks,) = [one.marks for one in run.record.prints.values() if len(one.marks) == 2]
    read, saved = marks
    assert (type(read), read.counter, read.optimizer, [one.line for one in read.path]) == (ReadState, 4, True, [15])
    assert (type(saved), saved.counter, saved.file) == (SavedFile, 0, read.file)


TRAINED = """
    model = net(); optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(2):
        for _ in range(6): optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
        with torch.no_grad():
            for _ in range(6): model(x)
    from torch.optim.swa_utils import update_bn
    update_bn([x] * 8, model)
"""


def test_an_evaluation_in_train_mode_is_taken_back_by_one_in_eval_mode(watch):
    assert _prints(watch, TRAINED + "    model.eval()\n").marks == ()


def test_an_evaluation_in_train_mode_is_marked_and_statistics_made_anew_are_not(watch):
    first, mark = _prints(watch, TRAINED).marks
    assert first == replace(mark, runs=1, trained=6)
    assert mark == EvaluatedInTrain(
        root="Sequential", module="1 (BatchNorm1d)", runs=2, trained=12, optimizers=1, path=mark.path
    )
    assert [one.line for one in mark.path] == [13]
