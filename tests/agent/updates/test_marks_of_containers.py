"""That what holds ever more tensors with their graphs is marked, and what is cleared or detached is not: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.object_marks import ContainerGrows
from diagnostics.record.parameter_prints import ParameterPrints

HEAD = """
    import collections
    import torch
    from torch import nn
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(8, 4)
    def train(keep, count=200):
        for number in range(count):
            loss = model(x).pow(2).mean()
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            keep(number, loss)
"""


def _marks(watch, source: str) -> tuple[ContainerGrows, ...]:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints()).marks_of(ContainerGrows)


HOLDING = {
    "a list of an object in an object": (
        """
    class Meter:
        def __init__(self): self.values = []
        def add(self, number, loss): self.values.append((number, loss))
    class Board:
        def __init__(self): self.meters = {"loss": Meter()}
        def update(self, *given): self.meters["loss"].add(*given)
    board = Board()
    train(board.update)
""",
        ("board.meters['loss'].values", "values", "Meter", False),
    ),
    "a default that is shared by all calls": (
        """
    def keep(number, loss, seen={}): seen[number] = {"loss": loss}
    train(keep)
""",
        ("keep(seen)", "seen", "", False),
    ),
    "a queue in a closure": (
        """
    def tracker():
        recent = collections.deque()
        def keep(number, loss): recent.append(loss)
        return keep
    keep = tracker()
    train(keep)
""",
        ("keep.recent", "recent", "", False),
    ),
    "a running mean with its graph": (
        """
    class Mean:
        total = 0.0
        def add(self, number, loss): self.total = 0.9 * self.total + 0.1 * loss
    mean = Mean()
    train(mean.add)
""",
        ("mean.total", "total", "Mean", True),
    ),
}


@pytest.mark.parametrize("how", HOLDING)
def test_what_holds_ever_more_graphs_is_marked_by_the_name_the_program_has_for_it(watch_warm, how: str) -> None:
    source, told = HOLDING[how]
    (mark,) = _marks(watch_warm, source)
    assert (mark.path, mark.name, mark.owner, mark.sum) == told
    assert (mark.step, mark.length - mark.before, mark.steps) == (160, 80, 80)


LARGE = """
    seen, small = collections.defaultdict(list), []
    def hook(module, inputs, output):
        seen["layer"].append((len(small), output.detach().expand(8, 1024).clone()))
        small.append(output.detach())
    model.register_forward_hook(hook)
    train(lambda number, loss: None)
"""


def test_large_tensors_without_a_graph_are_marked_with_their_bytes_and_small_ones_are_not(watch_warm) -> None:
    found = [(mark.step, mark.path, mark.name, mark.entry_bytes) for mark in _marks(watch_warm, LARGE)]
    assert found == [(step, "seen['layer']", "seen", 8 * 1024 * 4) for step in (80, 160)]


CLEARED = {
    "numbers": """
    losses = []
    train(lambda number, loss: losses.append(loss.item()))
""",
    "tensors without a graph": """
    outputs = []
    train(lambda number, loss: outputs.append(loss.detach()))
""",
    "an epoch's losses": """
    epoch = []
    def keep(number, loss):
        epoch.append(loss)
        if len(epoch) == 50: epoch.clear()
    train(keep)
""",
    "the latest ones": """
    latest = collections.deque(maxlen=100)
    train(lambda number, loss: latest.append(loss))
""",
    "a sum of the latest micro-batches": """
    def sums(number, loss):
        global total
        total = (loss if not number % 32 else total + loss)
    train(sums)
""",
}


def test_what_is_cleared_or_bounded_or_has_no_graph_is_not_marked(watch_warm) -> None:
    assert _marks(watch_warm, "".join(CLEARED.values())) == ()


WARY = """
    class Proxy:
        def __getattribute__(self, name): raise SystemExit("asked for " + name)
        def __len__(self): raise SystemExit("asked for its length")
    class Odd(type):
        def __getattribute__(cls, name): raise SystemExit("asked a class for " + name)
    class Row(tuple):
        def __getitem__(self, at): raise SystemExit("asked for an entry")
    class Names(dict):
        def __iter__(self): raise SystemExit("gone through")
    class Held(metaclass=Odd): pass
    proxy, held, rows, names = Proxy(), Held(), [], Names(a=0)
    def keep(number, loss): rows.append(Row((number, loss)))
    train(keep)
"""


def test_no_code_of_the_program_runs_while_its_objects_are_walked(watch_warm) -> None:
    (mark,) = _marks(watch_warm, WARY)
    assert mark.path == "rows"
