"""How much a job trained, as the agent counted it, whatever its optimizers are wrapped in."""

from __future__ import annotations

import pytest

HEAD = """import torch
from torch import nn
model = nn.Linear(4, 4)
x = torch.ones(2, 4)
def loss(): return model(x).pow(2).mean()
"""

WAYS = {
    "foreach": (7, "optimizer = torch.optim.AdamW(model.parameters(), foreach=True)"),
    "fused": (7, "optimizer = torch.optim.AdamW(model.parameters(), fused=True)"),
    "scheduled": (
        7,
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n"
        "after = scheduler.step",
    ),
    "own": (
        7,
        "class Own(torch.optim.Optimizer):\n"
        "    def __init__(self, params): super().__init__(params, {})\n"
        "    @torch.no_grad()\n"
        "    def step(self):\n"
        "        for group in self.param_groups:\n"
        "            for p in group['params']: p.add_(p.grad, alpha=-0.1)\n"
        "optimizer = Own(model.parameters())",
    ),
}
LOOP = """
for _ in range(7):
    optimizer.zero_grad(); loss().backward(); optimizer.step(); globals().get("after", int)()
"""


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def _program(setup: str, loop: str = LOOP) -> str:
    return f"{HEAD}{setup}\n{loop}"


def _steps(watch, source):
    run = watch(source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = (agent for agent in run.record.agents if agent.steps.backwards)
    return agent.steps


@pytest.mark.parametrize("way", ["fused", "scheduled"])
def test_the_steps_of_an_eager_loop_are_counted(watch, way):
    count, setup = WAYS[way]
    steps = _steps(watch, _program(setup))
    assert (steps.count, steps.backwards, len(steps.durations_s), steps.in_backward) == (count, count, count - 1, False)
    assert steps.last_s - steps.first_s == pytest.approx(sum(steps.durations_s), abs=1e-4)
    assert steps.group_number is None


FOLDS = """
for _ in range(4):
    fold = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5): fold.zero_grad(); loss().backward(); fold.step()
    del fold
"""


def test_an_optimizer_that_has_the_id_of_one_that_is_gone_begins_at_its_first_step(watch):
    assert _steps(watch, HEAD + FOLDS).count == 5


OTHERS = """
import os
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=0, world_size=1)
zero = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
for _ in range(3): loss().backward(); zero.step()
busy, idle = torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for index in range(300):
    scaler.scale(loss()).backward()
    scaler.step(busy); scaler.update()
    if index % 2: idle.step()
lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=3)
def closure(): lbfgs.zero_grad(); value = loss(); value.backward(); return value
lbfgs.step(closure)
dist.destroy_process_group()
"""


def test_of_several_optimizers_the_busiest_counts(watch):
    steps = _steps(watch, _program("", OTHERS))
    assert (steps.count, len(steps.durations_s), steps.group_number is None) == (300, 256, False)
    assert steps.backwards >= 304


BY_HAND = """
for _ in range(5):
    loss().backward()
    with torch.no_grad():
        for p in model.parameters(): p -= 0.1 * p.grad; p.grad = None
for _ in range(4):
    gradients = torch.autograd.grad(loss(), list(model.parameters()), create_graph=True)
    torch.autograd.grad(gradients[0].sum(), list(model.parameters()), allow_unused=True)
"""


def test_an_update_by_hand_shows_as_backward_passes_alone(watch):
    steps = _steps(watch, _program("", BY_HAND))
    assert (steps.count, steps.backwards, steps.first_s) == (0, 5 + 8, None)


COMPILED = """
import torch._dynamo
from torch._dynamo.utils import counters
def whole():
    loss().backward(); optimizer.step(); optimizer.zero_grad()
compiled = torch.compile(optimizer.step, backend="eager", fullgraph=FULL)
for _ in range(6): loss().backward(); compiled(); optimizer.zero_grad()
print(dict(counters["stats"]), len(counters["graph_break"]))
counters.clear(); torch._dynamo.reset()
compiled = torch.compile(whole, backend="eager")
for _ in range(6): compiled()
print(dict(counters["stats"]), len(counters["graph_break"]), loss().item().hex())
"""


@pytest.mark.parametrize(("way", "full"), [("foreach", False), ("own", True)])
def test_steps_inside_torch_compile_are_counted_and_compile_as_before(watch, watcher, tmp_path_factory, way, full):
    source = "torch_seed = 0\n" + HEAD.replace("model =", "torch.manual_seed(0); model =") + WAYS[way][1]
    source += COMPILED.replace("FULL", str(full))
    bare = watch(source, watched=False)
    watched = watcher(tmp_path_factory.mktemp("from-its-start"))(source)
    assert (watched.returncode, watched.stdout) == (0, bare.stdout)
    (agent,) = (agent for agent in watched.record.agents if agent.steps.backwards)
    assert (agent.steps.count, agent.steps.backwards) == (12, 12)


def test_a_process_killed_in_backward_is_inside_it(watch):
    run = watch(
        _program(
            "",
            "class Dies(torch.autograd.Function):\n"
            "    @staticmethod\n"
            "    def forward(ctx, x): return x * 1\n"
            "    @staticmethod\n"
            "    def backward(ctx, g): import os; os.kill(os.getpid(), 9)\n"
            "loss().backward()\n"
            "Dies.apply(loss()).backward()\n",
        )
    )
    assert run.returncode == -9
    (agent,) = run.record.agents
    assert (agent.steps.in_backward, agent.steps.backwards, agent.steps.count) == (True, 2, 0)


LOADERS = """
import os
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
class Samples(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, index): return torch.ones(1)
early = DataLoader(Samples(), batch_size=2, shuffle=True)
for _ in range(3): list(early)
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=0, world_size=1)
list(DataLoader(Samples(), batch_size=2, sampler=DistributedSampler(Samples()), num_workers=1))
loss().backward()
dist.destroy_process_group()
"""


def test_the_first_iterator_of_a_loader_is_an_event(watch):
    run = watch(_program("", LOADERS))
    assert (run.returncode, run.stderr) == (0, "")
    agent = next(agent for agent in run.record.agents if agent.steps.backwards)
    events = [event for event in agent.events if event.kind == "loader-iter"]
    assert [(event.text, event.path[0].line) for event in events] == [
        ("workers=0 sampler=RandomSampler batch_size=2 group=no dataset=Samples", 15),
        ("workers=1 sampler=DistributedSampler batch_size=2 group=yes dataset=Samples", 17),
    ]


def test_a_forked_child_counts_for_itself(watch):
    run = watch(
        _program(
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
            LOOP + "import os, sys\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse:\n"
            "    for _ in range(2): loss().backward(); optimizer.step()\n",
        )
    )
    parent, child = run.record.agents
    assert [(agent.steps.count, agent.steps.backwards) for agent in (parent, child)] == [(7, 7), (2, 2)]


OTHER = "import copy\nother = copy.deepcopy(model)\noptimizer = torch.optim.SGD(other.parameters(), lr=0.1)"


@pytest.mark.parametrize(
    ("setup", "told"),
    [
        (OTHER, ["optimizers=1 steps=7"]),
        (OTHER + "\nmine = torch.optim.SGD(model.parameters(), lr=0.1)\nafter = mine.step", []),
        ("optimizer = torch.optim.SGD(model.parameters(), lr=0.1)", []),
    ],
)
def test_steps_of_which_none_had_a_gradient_are_told_at_the_end(watch, setup, told):
    run = watch(_program(setup))
    assert run.returncode == 0
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind == "no-gradients"] == told
