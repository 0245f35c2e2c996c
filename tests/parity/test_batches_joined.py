"""How the shares of ranks become the batch of one process."""

from __future__ import annotations

from collections import namedtuple

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from diagnostics.agent.parity.collating import Drawn, collated
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


def padded(rows: list[torch.Tensor]) -> torch.Tensor:
    return pad_sequence(rows, batch_first=True)


class Drawing(list[torch.Tensor]):
    """Data that are drawn anew at each access."""

    def __getitem__(self, index):  # type: ignore[no-untyped-def, override]
        return super().__getitem__(index) + torch.rand(())


def test_shares_padded_to_lengths_of_their_own_are_collated_anew_and_no_random_number_is_drawn() -> None:
    data = [torch.arange(length) for length in (2, 3, 5, 1)]
    loader = DataLoader(data, 2, collate_fn=padded)  # type: ignore[arg-type]
    shares, before = list(loader), torch.get_rng_state()
    made = collated(loader, shares, [[0, 1], [2, 3]], lambda batch: batch)
    assert made.tolist() == [[0, 1, 0, 0, 0], [0, 1, 2, 0, 0], [0, 1, 2, 3, 4], [0, 0, 0, 0, 0]]
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("kind", "drawn", "why"),
    [
        (Drawing, [[0, 1], [2, 3]], "the data set gives other values when it is read again"),
        (list, [[0, 1], [3, 2]], "the data set gives other values when it is read again"),
        (list, [[0, 1], None], "which samples they are is not known"),
    ],
)
def test_shares_that_the_loader_does_not_make_again_are_not_joined(kind: type, drawn: list[object], why: str) -> None:
    loader = DataLoader(kind([torch.arange(length) for length in (2, 3, 5, 1)]), 2, collate_fn=padded)
    with pytest.raises(CannotJoinError) as refused:
        collated(loader, list(loader), drawn, lambda batch: batch)
    assert str(refused.value) == why


def test_samples_that_a_broken_off_pass_had_drawn_are_forgotten() -> None:
    drawn, iterator = Drawn(), iter(DataLoader([torch.ones(1)], 1))
    for indices in ([0], [1]):
        drawn.note(iterator, indices)
    assert drawn.of(iterator) == [0]
    drawn.forget(iterator)
    assert drawn.of(iterator) is None
