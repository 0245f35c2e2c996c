"""Lengths that end every batch at the same share of its frames are told; those of padded batches are not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import frames_never_heard

PROGRAM = """
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence
    torch.manual_seed(0)
    net, cell = nn.Linear(4, 6), nn.GRU(6, 5)
    optimizer = torch.optim.SGD([*net.parameters(), *cell.parameters()], 0.01)
    criterion = nn.CTCLoss(zero_infinity=True)
    labels, sizes = torch.randint(1, 6, (4, 2)), torch.full((4,), 2)
    def ctc(frames, lengths):
        scores = net(torch.randn(frames, 4, 4)).log_softmax(-1)
        return criterion(scores, labels, lengths, sizes)
    def packed(frames, lengths):
        given = net(torch.randn(4, frames, 4))
        return cell(pack_padded_sequence(given, lengths, True, enforce_sorted=False))[0].data.sum()
    for turn in range(24):
        longest = {longest}
        frames = {frames}
        lengths = torch.cat([torch.randint(longest // 2, longest, (3,)), torch.tensor([longest])])
        lengths = {lengths}
        optimizer.zero_grad()
        {loss}.backward()
        optimizer.step()
"""
VARIES = "20 + 7 * turn % 31"


def told(watch: Callable[..., Any], longest: str, frames: str, lengths: str, loss: str) -> Match | None:
    run = watch(PROGRAM.format(longest=longest, frames=frames, lengths=lengths, loss=loss))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return frames_never_heard.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("frames", "lengths", "loss", "function", "share"),
    [
        ("longest", "lengths // 2", "ctc(frames, lengths)", "ctc_loss at main.py:12", "50%"),
        ("longest", "(lengths >> 2) - 1", "ctc(frames, lengths)", "ctc_loss at main.py:12", "23%"),
        ("2 * longest", "lengths", "ctc(frames, lengths)", "ctc_loss at main.py:12", "50%"),
        ("longest", "lengths // 2", "packed(frames, lengths)", "pack_padded_sequence at main.py:15", "50%"),
    ],
)
def test_lengths_that_are_a_share_of_the_frames_in_each_batch_are_told(
    watch_warm: Callable[..., Any], frames: str, lengths: str, loss: str, function: str, share: str
) -> None:
    found = told(watch_warm, VARIES, frames, lengths, loss)
    assert found is not None
    assert found.failure_class == "wrong-loss"
    assert found.finding.title.startswith(f"The lengths given to {function} end every batch at {share} of its frames")


@pytest.mark.parametrize(
    ("longest", "frames", "lengths", "loss"),
    [
        (VARIES, "longest", "lengths", "ctc(frames, lengths)"),  # as long as the longest
        (VARIES, "longest + 3", "lengths", "ctc(frames, lengths)"),  # padded to a multiple, or by a convolution
        (VARIES, "120", "lengths", "ctc(frames, lengths)"),  # padded to a maximum
        ("20 + 2 * turn", "60 + turn", "lengths", "ctc(frames, lengths)"),  # of a larger batch
        (VARIES, "longest", "lengths", "packed(frames, lengths)"),
        (VARIES, "longest", "lengths // 2", "torch.no_grad()(ctc)(frames, lengths); net(torch.randn(2, 4)).sum()"),
    ],
)
def test_lengths_of_padded_batches_and_those_nothing_learns_from_are_not_told(
    watch_warm: Callable[..., Any], longest: str, frames: str, lengths: str, loss: str
) -> None:
    assert told(watch_warm, longest, frames, lengths, loss) is None
