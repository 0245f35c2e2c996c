from __future__ import annotations

import io
import random
import zipfile
from typing import Any

import pytest
import torch

from diagnostics.cache.pickles.facts import PickleFacts, facts_of
from diagnostics.cache.pickles.opcodes import walk_pickle
from diagnostics.cache.pickles.templates import KnownPickles, facts_in, template


def pickled(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return zipfile.ZipFile(buffer).read("archive/data.pkl")


def told(facts: PickleFacts) -> tuple[Any, ...]:
    storages = [(tag.key, tag.location, tag.bytes, tag.offset) for tag in facts.storages]
    return storages, facts.devices, facts.dtypes, facts.tensors, facts.facts, facts.problems


def sample(number: int, **more: Any) -> dict[str, Any]:
    return {
        "latent": torch.zeros(3, 4),
        "nu": number / 7,
        "index": 1 + number % 200,
        "name": f"sample_{number:05d}",
        **more,
    }


def test_samples_that_differ_in_numbers_and_names_alone_are_walked_once_and_told_alike() -> None:
    known = KnownPickles(facts_in)
    answers = [known.told(pickled(sample(number))) for number in range(50)]
    assert (known.made, known.used) == (1, 49)
    assert {id(facts) for facts in answers[1:]} == {id(answers[1])}
    assert told(answers[40]) == told(facts_of(walk_pickle(pickled(sample(40)))))


@pytest.mark.parametrize(
    "other",
    [
        {"latent": torch.zeros(4, 3)},
        {"latent": torch.zeros(3, 4, dtype=torch.int32)},
        {"latent": torch.zeros(3, 4).requires_grad_()},
        {"latent": torch.zeros(4, 4)[:3]},
    ],
    ids=["shape", "dtype", "grad", "view"],
)
def test_a_tensor_that_differs_is_never_told_as_the_one_before(other: dict[str, Any]) -> None:
    known = KnownPickles(facts_in)
    for number in range(5):
        known.told(pickled(sample(number)))
    data = pickled(sample(5) | other)
    assert told(known.told(data)) == told(facts_of(walk_pickle(data)))


def test_a_byte_changed_anywhere_gives_what_a_walk_of_it_gives() -> None:
    known = KnownPickles(facts_in)
    for number in range(5):
        known.told(pickled(sample(number)))
    data, rng = pickled(sample(7)), random.Random(3)
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        try:
            expected = told(facts_of(walk_pickle(changed)))
        except Exception as error:
            with pytest.raises(type(error)):
                known.told(changed)
        else:
            assert told(known.told(changed)) == expected, at


def test_a_number_that_is_also_a_size_is_compared() -> None:
    # (1, 7) memoised nowhere: 7 in the list is free; the 7 fetched from the memo for a key is not.
    free = template(b"\x80\x02]K\x07a.", facts_of(walk_pickle(b"\x80\x02]K\x07a.")))
    data = b"\x80\x02](K\x07q\x01h\x01e."
    recalled = template(data, facts_of(walk_pickle(data)))
    assert free is not None
    assert recalled is None


def test_what_is_kept_is_bounded_where_no_pickle_is_like_another() -> None:
    known = KnownPickles(facts_in)
    for number in range(300):
        known.told(pickled({f"key{number:05d}": torch.zeros(2), "nu": 0.5}))
    assert len(known.exact) <= 64
    assert (known.made, sum(map(len, known.templates.values()))) == (32, 4)
