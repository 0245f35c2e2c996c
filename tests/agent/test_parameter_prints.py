"""What the agent samples of parameters and gradients, and that the job does not notice."""

from __future__ import annotations

import pytest

from diagnostics.record.parameter_prints import ParameterPrints

HEAD = """
    import gc, weakref
    import torch
    from torch import nn
    torch.manual_seed(1)
"""


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def _prints(watch, source: str) -> ParameterPrints:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    assert "torch" not in run.stdout  # no mode of the job's saw a function of ours
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind == "no-prints"] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints())


PLAIN = """
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    frozen = model[2].bias.requires_grad_(False)
    for step in range(1, 61):
        x = torch.full((2, 4), float("nan") if step == 30 else 0.5)
        optimizer.zero_grad()
        if step != 32: (model(x) ** 2).sum().backward()
        if step >= 30:
            torch.nn.init.ones_(model[0].weight)
            [p.grad.zero_() for p in model.parameters() if p.grad is not None]
        optimizer.step()
    kept = weakref.ref(model[0].weight)
    del model, optimizer, frozen; gc.collect()
    print(kept() is None, torch.rand(1).item())
"""


def test_parameters_are_sampled_before_a_few_steps_and_two_more_after_a_loss_that_is_no_number(watch):
    prints = _prints(watch, PLAIN)
    assert [look.step for look in prints.looks] == [1, 2, 3, 10, 20, 30, 31, 50]
    (model,) = {look.model for look in prints.looks}
    assert (model.names, model.shapes) == (
        ("0.weight", "0.bias", "2.weight", "2.bias"),
        ("3x4", "3", "1x3", "1"),
    )
    assert ([frame.line for frame in model.made], [frame.line for frame in model.stepped]) == ([8], [17])
    first, second = prints.looks[:2]
    assert [one.why for one in first.gradients] == ["", "", "", "none"]
    assert [one == other for one, other in zip(first.values, second.values, strict=True)] == [False, False, False, True]
    assert (first.rates, first.closure, first.backwards, first.graded, second.graded) == ((0.5,), False, 1, None, 3)
    (bad,) = prints.bad_losses
    assert (bad.loss != bad.loss, bad.backward, bad.steps, [frame.line for frame in bad.path]) == (True, 30, 29, [13])


def test_the_job_sees_the_same_random_numbers_and_its_tensors_end_when_they_did(watch):
    alone = watch(HEAD + PLAIN, watched=False)
    assert alone.stdout.startswith("True ")
    assert watch(HEAD + PLAIN).stdout == alone.stdout


LISTED = """
    def made():
        class Block(nn.Sequential): pass
        return Block
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Linear(4, 4)
            self.blocks = {blocks}([{kind}(nn.Linear(4, 4), nn.ReLU()) for _ in range(2)])
            self.teacher = [nn.Linear(4, 4)]
        def forward(self, x):
            x = self.stem(x)
            with torch.no_grad(): self.teacher[0](x)
            for block in self.blocks: x = block(x)
            return x
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad(); net(torch.ones(2, 4)).sum().backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    ("blocks", "kind", "stray"),
    [
        ("list", "nn.Sequential", "Sequential"),
        ("list", "made()", "made.<locals>.Block"),
        ("nn.ModuleList", "made()", ""),
    ],
)
def test_parameters_of_modules_in_a_plain_list_are_known_as_in_no_optimizer(watch, blocks, kind, stray):
    last = _prints(watch, LISTED.format(blocks=blocks, kind=kind)).looks[-1]
    expected = [f"<{stray}>[{n}].0.{name}" for n in (0, 1) for name in ("weight", "bias")] if stray else []
    assert [name for name, _ in last.model.loose] == expected


CLOSURES = """
    model = nn.Linear(4, 1)
    optimizer = torch.optim.{kind}(model.parameters(), lr=0.125)
    asked = []
    def loss(scale=1.0):
        asked.append(scale)
        optimizer.zero_grad()
        value = (model(torch.ones(2, 4)) * scale).sum()
        value.backward()
        return value
    for step in range(1, 4):
        {step}
    print(len(asked), optimizer.step.__name__, *(x.item() for x in model.weight[0]))
"""


@pytest.mark.parametrize(
    ("kind", "step", "told"),
    [
        ("SGD", "loss(); optimizer.step(None)", [(1, False, "")] * 3),  # as Accelerate hands on what it was given
        ("SGD", "optimizer.step(loss)", [(1, False, "")] * 3),
        ("Adam", "optimizer.step(closure=loss)", [(1, False, "")] * 3),
        ("LBFGS", "optimizer.step(loss)", [(0, True, "none"), (None, True, ""), (None, True, "")]),
    ],
)
def test_gradients_that_a_closure_makes_inside_the_step_are_looked_at_before_they_are_used(watch, kind, step, told):
    code = CLOSURES.format(kind=kind, step=step)
    looks = _prints(watch, code).looks
    assert [(look.step, look.closure) for look in looks] == [(at, one[1]) for at, one in enumerate(told, 1)]
    assert [look.gradients[0].why for look in looks] == [one[2] for one in told]
    if not told[0][1]:
        assert [look.backwards for look in looks] == [1, 2, 3]
        assert len({look.values[0].first for look in looks}) == 3
    assert watch(HEAD + code).stdout == watch(HEAD + code, watched=False).stdout


WRAPPED = """
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="file://" + __file__ + ".store", rank=0, world_size=1)
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1))
    for p in model[0].parameters(): p.requires_grad = False
    ddp = nn.parallel.DistributedDataParallel(model)
    other = nn.Linear(1, 1)
    for p in model[0].parameters(): p.requires_grad = True
    optimizer = torch.optim.Adam([*ddp.parameters(), *other.parameters()])
    called = model if "inner" in globals() else ddp
    for step in range(4):
        with ddp.no_sync(): other(called(torch.ones(2, 4))).sum().backward()
        optimizer.step()
    dist.destroy_process_group()
"""


@pytest.mark.parametrize(("inner", "ran", "at"), [("", True, []), ("    inner = True\n", False, [18])])
def test_what_a_wrapper_synchronises_and_whether_it_ran_is_known(watch, inner, ran, at):
    last = _prints(watch, inner + WRAPPED).looks[-1]
    assert last.model.wrapper == (-1, -1, 1, 1, 0, 0)
    (wrapper,) = last.wrappers
    facts = (wrapper.class_name, wrapper.ranks, wrapper.ran, wrapper.synchronised, wrapper.inner_called)
    assert facts == ("Sequential", (0,), ran, not ran, not ran)
    assert [frame.line for frame in wrapper.inner_call] == at
    assert (last.world_size, last.model.in_model) == (1, (True,) * 6)


ROLLOUT = """
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="file://" + __file__ + ".store", rank=0, world_size=1)
    model = nn.Linear(4, 1)
    ddp = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(ddp.parameters())
    for step in range(3):
        with torch.no_grad():
            model(torch.ones(2, 4))
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()
"""


def test_of_a_model_called_around_its_wrapper_the_call_that_learns_is_told_and_not_the_rollout_before_it(watch):
    (wrapper,) = _prints(watch, ROLLOUT).looks[-1].wrappers
    (call,) = wrapper.inner_call
    line = (HEAD + ROLLOUT).splitlines()[call.line - 1]
    assert (wrapper.ran, "backward()" in line) == (False, True)


@pytest.mark.parametrize(("called", "ran"), [("model", False), ("ddp", True)])
def test_what_a_model_learned_before_it_was_wrapped_is_no_call_around_its_wrapper(watch, called, ran):
    warm = "    ddp = nn.parallel.DistributedDataParallel(model)\n"
    source = ROLLOUT.replace(warm, "    model(torch.ones(2, 4)).sum().backward()\n" + warm)
    source = source.replace("model(torch.ones(2, 4)).sum().backward()\n        opt", f"{called}(torch.ones(2, 4)).sum()"
                            ".backward()\n        opt")  # fmt: skip
    (wrapper,) = _prints(watch, source).looks[-1].wrappers
    lines = [(HEAD + source).splitlines()[call.line - 1] for call in wrapper.inner_call]
    learns = [] if ran else ["        model(torch.ones(2, 4)).sum().backward()"]
    assert (wrapper.ran, wrapper.inner_called, lines) == (ran, not ran, learns)


ODD = """
    model = nn.Linear(4, 3)
    model.rows = nn.Parameter(torch.randn(8, 6).t())
    model.strange = nn.Parameter(torch.randn(8, 6)[:, ::2])
    model.short = nn.Parameter(torch.ones(5, dtype=torch.bfloat16))
    model.meta = nn.Parameter(torch.empty(5, device="meta"))
    model.table = nn.Embedding(50, 2, sparse=True)
    large = nn.Parameter(torch.zeros(300, 300))
    optimizer = torch.optim.SGD([*model.parameters(), large], lr=torch.tensor(0.25))
    rest = model.rows.sum() + model.short.sum() + model.table(torch.zeros(1, dtype=torch.long)).sum()
    (model(torch.ones(1, 4)).sum() + rest).backward()
    model.freed = nn.Parameter(torch.zeros(6))
    optimizer.add_param_group({"params": [model.freed]})
    model.freed.untyped_storage().resize_(0)
    class Seen(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            print(function)
            return function(*args, **(kwargs or {}))
    import torch.optim.optimizer as optim
    with Seen():
        for hook in list(optim._global_optimizer_pre_hooks.values()):
            hook(optimizer, (optimizer,), {})
    torch.func.grad(lambda x: x.sum())(torch.ones(2))
"""


def test_what_is_not_plainly_in_memory_is_left_unread(watch):
    (look,) = _prints(watch, ODD).looks
    told = {
        name: (value.why, gradient.why)
        for name, value, gradient in zip(look.model.names, look.values, look.gradients, strict=True)
    }
    assert told == {
        "weight": ("", ""),
        "bias": ("", ""),
        "rows": ("", ""),
        "strange": ("device", "none"),
        "short": ("", ""),
        "meta": ("device", "none"),
        "table.weight": ("", "sparse"),
        "parameter 7": ("", "none"),
        "freed": ("device", "none"),
    }
    assert look.values[4].first == 1.0
    assert look.rates == (0.25, 0.25)
