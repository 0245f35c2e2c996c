"""Layers that go over the batch since batch_first is missing are told; those that are given time first are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.losses import batch_taken_for_time
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch, warnings
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = {layer}
            self.head = nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 3))
        def forward(self, x):
            {forward}
    x = torch.randn({rows}, 7, 12)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    batches = {batches}
    for epoch in range(12):
        for given in batches:
            optimizer.zero_grad(); net(given[0]).square().mean().backward(); optimizer.step()
"""
LOADER = "DataLoader(TensorDataset(x), 10, shuffle=True)"
IN_ORDER, BY_HAND = "DataLoader(TensorDataset(x), 10)", "x.split(10) and [(one,) for one in x.split(10)]"
LSTM, GRU = "nn.LSTM(12, 12)", "nn.GRU(12, 12)"
LAST = "return self.head(self.layer(x)[0][:, -1])"
ENCODER = "nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 16), 2)"
BLOCK = "nn.TransformerEncoderLayer(12, 2, 16)"


def told(watch: Callable[..., Any], **parts: Any) -> Match | None:
    run = watch(PROGRAM.format(**{"rows": 30, "batches": LOADER, **parts}))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return batch_taken_for_time.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("layer", "forward", "batches", "kind"),
    [
        (LSTM, LAST, LOADER, "LSTM"),
        (LSTM, LAST, BY_HAND, "LSTM"),
        (GRU, "return self.head(self.layer(x)[0].mean(1))", LOADER, "GRU"),
        (BLOCK, "return self.head(self.layer(x)[:, 0])", BY_HAND, "TransformerEncoderLayer"),
        ("nn.MultiheadAttention(12, 2)", "return self.head(self.layer(x, x, x)[0].amax(1))", LOADER,
         "MultiheadAttention"),
    ],
)  # fmt: skip
def test_a_layer_that_goes_over_the_samples_of_a_batch_is_told(
    watch_warm: Callable[..., Any], layer: str, forward: str, batches: str, kind: str
) -> None:
    found = told(watch_warm, layer=layer, forward=forward, batches=batches)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "wrong-loss", (0,), Confidence.LIKELY,
    )  # fmt: skip
    assert found.locations[:2] == ("main.py:10", "main.py:13")
    assert found.finding.title == (
        f"{kind} at main.py:13 goes over the 10 samples of the batch as if they were time: it is given [10, 7, 12] "
        "without batch_first, and the 7 steps of each sample count as 7 samples"
    )


@pytest.mark.parametrize(
    ("layer", "forward", "fields"),
    [
        pytest.param("nn.LSTM(12, 12, batch_first=True)", LAST, {}, id="batch first"),
        pytest.param(LSTM, "return self.head(self.layer(x.transpose(0, 1))[0][-1])", {}, id="turned"),
        pytest.param(LSTM, "return self.head(self.layer(x)[0])", {}, id="a row for each step"),
        pytest.param(LSTM, "return self.head(self.layer(x)[0].flatten(0, 1))", {}, id="flattened"),
        pytest.param(LSTM, "return self.head(self.layer(x[:, :1])[0][:, -1])", {}, id="one series"),
        pytest.param(
            GRU, "return self.head(self.layer(x)[0].mean(1))", {"batches": IN_ORDER}, id="a mean of series, in order"
        ),
        pytest.param(BLOCK, "return self.head(self.layer(x.flip(1).transpose(0, 1)).mean(0))", {}, id="attention"),
        pytest.param(
            ENCODER, "return self.head(self.layer(x.reshape(1, -1, 12)).view_as(x)[:, 0])", {}, id="between samples"
        ),
        pytest.param("nn.Linear(12, 12)", "return self.head(self.layer(x)[:, -1])", {}, id="no sequence"),
    ],
)
def test_a_layer_that_is_given_time_first_or_gives_all_back_is_left_alone(
    watch_warm: Callable[..., Any], layer: str, forward: str, fields: dict[str, Any]
) -> None:
    assert told(watch_warm, layer=layer, forward=forward, **fields) is None


def test_as_many_steps_as_samples_say_nothing(watch_warm: Callable[..., Any]) -> None:
    batches = "DataLoader(TensorDataset(x), 7, shuffle=True)"
    assert told(watch_warm, layer=LSTM, forward=LAST, rows=28, batches=batches) is None
