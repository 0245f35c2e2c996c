"""What the agent marks of clipping, checkpointing, losses, schedules and states, and that right use leaves no mark."""

from __future__ import annotations

import pytest

from diagnostics.record.agent_data import AgentData
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import ClippedScaled, GraphCut, LossSpread, ScheduleOver, StateNotKept

HEAD = """
    import copy, functools
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.utils import clip_grad_norm_, clip_grad_value_
    from torch.utils.checkpoint import checkpoint
    torch.manual_seed(1)
    x, y = torch.randn(8, 4), torch.randn(8)
    def net(out=1): return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, out))
    def adam(model): return torch.optim.Adam(model.parameters(), lr=1e-3)
    def run(optimizer, loss, steps=12, after=lambda: None):
        for _ in range(steps): optimizer.zero_grad(); loss().backward(); optimizer.step(); after()
"""


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def _seen(watch, source: str) -> tuple[AgentData, ParameterPrints]:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return agent, run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints())


FAULTY = """
    import warnings; warnings.simplefilter("ignore")
    model = net(); optimizer = adam(model); scaler = torch.amp.GradScaler("cpu")
    for _ in range(12):
        optimizer.zero_grad(); scaler.scale(model(x).pow(2).mean()).backward()
        clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer); scaler.update()

    class Stack(nn.Module):
        def __init__(self):
            super().__init__(); self.head, self.body, self.norm = nn.Linear(4, 1), net(4), nn.BatchNorm1d(4)
            self.register_buffer("scale", torch.full((4,), 2.0)); self.register_buffer("seen", torch.zeros(2).long())
        def forward(self, x): return self.head(checkpoint(self.body, x, use_reentrant=True))
    stack = Stack(); optimizer = adam(stack)
    run(optimizer, lambda: F.cross_entropy(stack(x).squeeze(1), y.softmax(0)), 18)

    flat = net(); optimizer = adam(flat)
    run(optimizer, lambda: ((flat(x) - y) ** 2).mean())

    best = flat.state_dict()
    run(optimizer, lambda: flat(x).pow(2).mean(), 1)
    torch.save({"model": dict(best)}, "best.pt")
    flat.load_state_dict(best)

    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=24)
    run(optimizer, lambda: flat(x).pow(2).mean(), 20, after=lambda: (schedule.step(), schedule.step()))

    used = iter(torch.utils.data.DataLoader(range(8), 4))
    for epoch in range(6):
        for index, batch in enumerate(used): pass
        next(used, None)

    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    shards = fully_shard(nn.Linear(4, 1), mesh=dist.init_device_mesh("cpu", (1,)))
    run(adam(shards), lambda: shards(x).mean(), 1)
    dist.destroy_process_group()
"""


def test_what_takes_gradients_or_weights_away_is_marked_with_its_lines(watch):
    agent, prints = _seen(watch, FAULTY)

    (clipped,) = prints.marks_of(ClippedScaled)
    assert (clipped.optimizer, clipped.run, clipped.limit, clipped.scale) == (0, 10, 1.0, 65536.0)
    assert clipped.norm is not None
    assert clipped.norm > 1.0
    assert [one.line for one in clipped.path] == [19]
    (cut,) = prints.marks_of(GraphCut)
    assert (cut.run, cut.step, cut.parameters) == (10, 21, 4)
    assert cut.names == ("body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias")
    assert [one.line for one in cut.path][:1] == [26]
    held = [(look.model.buffers, [one.size for one in look.buffers]) for look in prints.of_optimizer(1)]
    assert held == [((("scale", "4"),), [2.0])] * 4
    (spread,) = prints.marks_of(LossSpread)
    assert (spread.run, spread.given, spread.made, [one.line for one in spread.path]) == (1, (8, 1), (8, 8), [13, 31])
    saved, loaded = prints.marks_of(StateNotKept)
    assert (saved.loaded, saved.root, saved.file, saved.since, saved.step) == (False, "Sequential", "best.pt", 12, 13)
    assert ([one.line for one in saved.taken], [one.line for one in saved.path]) == ([33], [35])
    assert (loaded.loaded, loaded.file, [one.line for one in loaded.path]) == (True, "", [36])
    (over,) = prints.marks_of(ScheduleOver)
    assert (over.optimizer, over.step, over.stepped, over.horizon) == (2, 32, 36, 24)
    assert (over.scheduler, [one.line for one in over.made]) == ("LinearLR", [38])
    (whole,) = prints.of_optimizer(3)  # over a mesh of this rank alone
    assert (whole.model.sharded, [one.why for one in (*whole.values, *whole.gradients)]) == ((False, False), [""] * 4)
    spent = [event for event in agent.events if event.kind == "loader-spent"]
    assert [(event.value, event.text, event.path[0].line) for event in spent] == [
        (2, "dataset=range", 43), (4, "dataset=range", 43)
    ]  # fmt: skip


HEALTHY = """
    import warnings; warnings.simplefilter("ignore")
    def scaled(clip, enabled=True):
        model = net(); optimizer = adam(model); scaler = torch.amp.GradScaler("cpu", enabled=enabled)
        for _ in range(12):
            optimizer.zero_grad(); scaler.scale(model(x).pow(2).mean()).backward()
            clip(scaler, optimizer, model); scaler.step(optimizer); scaler.update()
    def after(scaler, optimizer, model):  # the scale is taken out before
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 0.01); clip_grad_value_(model.parameters(), 0.01)
    scaled(after)
    scaled(lambda scaler, _, model: clip_grad_norm_(model.parameters(), 0.01 * scaler.get_scale()))
    scaled(lambda scaler, _, model: clip_grad_norm_(model.parameters(), 0.01), enabled=False)
    third = net(); beside = adam(third)
    def another(scaler, optimizer, model):  # of two optimizers, one is scaled
        beside.zero_grad(); third(x).pow(2).mean().backward(); clip_grad_norm_(third.parameters(), 0.01); beside.step()
    scaled(another)

    class Stack(nn.Module):
        def __init__(self): super().__init__(); self.head, self.body, self.tower = nn.Linear(4, 1), net(4), net(4)
        def forward(self, x):
            for part in (self.tower, self.body):
                x = checkpoint(functools.partial(part.__call__), x, use_reentrant=True)
                if not x.requires_grad: x.requires_grad_()
            return self.head(x)
    stack = Stack(); stack.tower.requires_grad_(False); optimizer = adam(stack)
    def loss():  # the tower is frozen, the rest is given what requires a gradient
        with torch.no_grad(): stack(x)
        return stack(x).pow(2).mean()
    run(optimizer, loss, 24)
    only = Stack(); optimizer = torch.optim.Adam(only.head.parameters())  # no optimizer holds the rest
    run(optimizer, lambda: only(x).pow(2).mean(), 24)

    model, wide = net(), net(8); both = torch.optim.Adam([*model.parameters(), *wide.parameters()])
    anchors = torch.linspace(-1, 1, 8)
    def loss():
        out = model(x); flat = out.squeeze(1)
        pairs = (flat[:, None] - y).abs().mean() + F.mse_loss(flat[:, None].expand(8, 8), y.expand(8, 8))
        bins = ((out - anchors) ** 2).neg().softmax(1)[:, 0].mean()
        size = (out * out).expand(8, 8); near = (size + size.t() - 2 * out @ out.t()).mean()
        hazard = (out.exp() * torch.ones(8, 8).tril()).sum(1).log().mean()
        return pairs + bins + near + hazard + F.mse_loss(out, y[:, None]) + F.mse_loss(flat, y) + (wide(x) - y).mean()
    run(both, loss, 24)

    model, teacher = net(), net(); optimizer = adam(model)
    always = model.state_dict(); torch.save({"model": always}, "first.pt")
    for epoch in range(3):
        run(optimizer, lambda: model(x).pow(2).mean(), 2)
        best = copy.deepcopy(model.state_dict())
        kept = {name: one.clone() for name, one in model.state_dict().items()}
        torch.save({"model": model.state_dict()}, "last.pt"); torch.save(always, "always.pt")
        teacher.load_state_dict(model.state_dict())
    run(optimizer, lambda: model(x).pow(2).mean(), 1)
    torch.save({"best": best, "kept": kept}, "best.pt"); model.load_state_dict(best)
    lent = model.state_dict(); run(optimizer, lambda: model(x).pow(2).mean(), 1); teacher.load_state_dict(lent)
    model.load_state_dict(model.state_dict())
    for _ in range(2):  # what it holds is changed through the state
        mean = model.state_dict(); [one.mul_(0.5) for one in mean.values()]; model.load_state_dict(mean)

    model = net(); optimizer = adam(model)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
    run(optimizer, lambda: model(x).pow(2).mean(), 32, after=schedule.step)
    import pickle, torch.nn.utils.clip_grad
    assert pickle.loads(pickle.dumps(clip_grad_norm_)) is clip_grad_norm_ is torch.nn.utils.clip_grad.clip_grad_norm_
    warnings.simplefilter("always")
    with warnings.catch_warnings(record=True) as told:
        clip_grad_norm_((one for one in ()), 1.0); stack(x)
    print([(one.filename.rpartition("/")[2], one.lineno, str(one.message)) for one in told])
    print(torch.rand(1).item(), sum(one.sum().item() for one in model.parameters()))
"""


def test_what_is_done_right_leaves_no_mark_and_goes_as_it_does_alone(watch):
    kinds = (ClippedScaled, GraphCut, LossSpread, ScheduleOver, StateNotKept)
    assert [mark for mark in _seen(watch, HEALTHY)[1].marks if isinstance(mark, kinds)] == []
    assert watch(HEAD + HEALTHY).stdout == watch(HEAD + HEALTHY, watched=False).stdout


COMPILED = """
    model = net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    @torch.compile(backend="eager", fullgraph=True)
    def clipped(parameters): return clip_grad_norm_(parameters, 0.1)
    for _ in range(3):
        optimizer.zero_grad(); model(x).pow(2).mean().backward(); clipped(list(model.parameters())); optimizer.step()
    print(clip_grad_norm_.__name__, sum(one.sum().item() for one in model.parameters()))
"""


def test_clipping_is_compiled_into_one_graph_as_it_is_alone(watch, watcher, tmp_path_factory):
    alone = watch(HEAD + COMPILED, watched=False)
    seen = watcher(tmp_path_factory.mktemp("from-its-start"))(HEAD + COMPILED)
    assert (seen.returncode, seen.stdout) == (0, alone.stdout)
    assert alone.stdout.startswith("clip_grad_norm_ ")
