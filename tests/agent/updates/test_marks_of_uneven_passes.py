"""What one target weighs in the micro-batches of a step is marked as the graph has it: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.object_marks import UnevenPasses
from diagnostics.record.parameter_prints import ParameterPrints

HEAD = """
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint
    torch.manual_seed(0)
    x = torch.randn(4, 24, 6)
    y = torch.randint(0, 5, (4, 24))
    for row, kept in enumerate((2, 24, 6, 24)): y[row, kept:] = -100
    model, other = nn.Linear(6, 5), nn.Linear(6, 3)
    optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=1e-3)
    total = (y >= 0).sum().item()
    def logits(part): return model(part).flatten(0, 1)
    def train(loss_of, count=17):
        for _ in range(count):
            optimizer.zero_grad()
            for part, labels in zip(x.split(1), y.split(1)): loss_of(part, labels).backward()
            optimizer.step()
"""


def _marks(watch, source: str) -> tuple[UnevenPasses, ...]:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints()).marks_of(UnevenPasses)


UNEVEN = {
    "a mean divided by the number of micro-batches": """
    train(lambda part, labels: F.cross_entropy(logits(part), labels.flatten()) / 4)
""",
    "a module's loss times a number, beside a penalty": """
    loss_of = nn.CrossEntropyLoss(ignore_index=-100)
    def with_penalty(part, labels):
        return 0.25 * loss_of(logits(part), labels.flatten()) + 1e-4 * model.weight.pow(2).sum()
    train(with_penalty)
""",
    "classes in the second dimension": """
    train(lambda part, labels: F.cross_entropy(model(part).transpose(1, 2), labels))
""",
}


@pytest.mark.parametrize("how", UNEVEN)
def test_means_of_unequal_numbers_are_marked_with_their_weights(watch_warm, how: str) -> None:
    (mark,) = _marks(watch_warm, UNEVEN[how])
    assert (mark.step, mark.passes, mark.least, mark.most) == (16, 4, 2, 24)
    assert mark.ratio == pytest.approx(12, rel=1e-3)
    assert mark.backward


EVEN = {
    "sums divided by the number of the step": """
    train(lambda part, labels: F.cross_entropy(logits(part), labels.flatten(), reduction="sum") / total)
""",
    "means that are weighted by their number": """
    train(lambda part, labels: F.cross_entropy(logits(part), labels.flatten()) * int((labels >= 0).sum()) / total)
""",
}


@pytest.mark.parametrize("how", EVEN)
def test_losses_that_weigh_each_target_alike_are_marked_as_even(watch_warm, how: str) -> None:
    (mark,) = _marks(watch_warm, EVEN[how])
    assert mark.ratio == pytest.approx(1, rel=1e-3)


UNKNOWN = {
    "nothing is left out": """
    full = y.clamp(min=0)
    for _ in range(17):
        optimizer.zero_grad()
        for part, labels in ((x[:1], full[:1]), (x[1:], full[1:])):
            F.cross_entropy(logits(part), labels.flatten()).backward()
        optimizer.step()
""",
    "tasks with classes of their own": """
    for _ in range(17):
        optimizer.zero_grad()
        for head, labels in ((model, y[:1]), (other, y[1:2].clamp(max=2))):
            F.cross_entropy(head(x[:1]).flatten(0, 1), labels.flatten()).backward()
        optimizer.step()
""",
    "weights of classes": """
    train(lambda part, labels: F.cross_entropy(logits(part), labels.flatten(), weight=torch.ones(5)))
""",
    "a loss in a checkpoint, whose hooks are not called": """
    def loss_of(part, labels): return F.cross_entropy(logits(part), labels.flatten())
    train(lambda part, labels: checkpoint(loss_of, part, labels, use_reentrant=False))
""",
    "one pass a step": """
    for _ in range(17):
        optimizer.zero_grad(); F.cross_entropy(logits(x), y.flatten()).backward(); optimizer.step()
""",
}


@pytest.mark.parametrize("how", UNKNOWN)
def test_what_is_another_training_or_cannot_be_read_is_not_marked(watch_warm, how: str) -> None:
    assert _marks(watch_warm, UNKNOWN[how]) == ()
