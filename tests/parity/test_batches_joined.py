"""How the shares of ranks become the batch of one process."""

from __future__ import annotations

from collections import namedtuple

import pytest
import torch

from diagnostics.agent.parity.structures import CannotJoinError, joined

Pair = namedtuple("Pair", "x y")


def test_shares_are_joined_in_the_order_of_the_ranks_whatever_their_structure() -> None:
    one = {"x": torch.tensor([1, 2]), "pair": Pair([torch.tensor([[1.0]])], ["a", "b"]), "count": 2, "name": "train"}
    other = {"x": torch.tensor([3]), "pair": Pair([torch.tensor([[2.0]])], ["c"]), "count": 1, "name": "train"}
    made = joined([one, other])
    assert made["x"].tolist() == [1, 2, 3]
    assert (type(made["pair"]).__name__, made["pair"].x[0].tolist(), made["pair"].y) == (
        "Pair",
        [[1.0], [2.0]],
        ["a", "b", "c"],
    )
    assert (made["count"], made["name"]) == (3, "train")


def test_equal_numbers_stay_and_unlike_ones_are_counts() -> None:
    assert joined([torch.tensor(0.5), torch.tensor(0.5)]).item() == 0.5
    assert joined([torch.tensor(3), torch.tensor(2)]).item() == 5


def test_equal_numbers_that_count_the_entries_of_their_share_are_counts() -> None:
    labels = torch.tensor([[5, 6, -100], [7, -100, -100]])
    assert joined([{"labels": labels, "tokens": 3, "scale": 10}] * 2)["tokens"] == 6
    assert joined([{"labels": labels, "tokens": torch.tensor(3), "scale": 10}] * 2)["scale"] == 10


def test_shares_of_unlike_lengths_cannot_be_joined() -> None:
    with pytest.raises(CannotJoinError) as refused:
        joined([{"ids": torch.zeros(2, 5)}, {"ids": torch.zeros(2, 7)}])
    assert str(refused.value) == (
        "the ranks' shares of the batch['ids'] have the shapes (2, 5) and (2, 7): pad them to one length"
    )


def test_what_is_no_tensor_number_or_text_cannot_be_joined() -> None:
    with pytest.raises(CannotJoinError) as refused:
        joined([{"seen": {1}}, {"seen": {2}}])
    assert str(refused.value) == "the batch['seen'] is set, which cannot be joined over ranks"
