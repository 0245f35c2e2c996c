from __future__ import annotations

import pytest
from inspected import MODELS, in_one_child, said

from diagnostics.inspection.engine import Inspected

BATCHES = {
    "ResNet": "images",
    "Transformer": "words",
    "Lstm": "sequences",
    "KeyValueCache": "sequences",
    "MovingTeacher": "vectors",
    "Clamped": "vectors",
    "Spectral": "vectors",
    "Recurrent": "lengths_vary",
    "Lazy": "vectors",
    "MaxNorm": "words",
    "MixtureGate": "vectors",
    "NeedsNothing": "",
    "Jacobian": "vectors",
}
TIED = next(
    f"healthy.py:{number}"
    for number, text in enumerate((MODELS / "healthy.py").read_text().splitlines(), 1)
    if text.endswith("# tied")
)


@pytest.fixture(scope="module")
def inspected() -> Inspected:
    return in_one_child("healthy", BATCHES)


def test_healthy_models_get_notes_at_most(inspected: Inspected) -> None:
    found = said(inspected)
    notes = {name: [line.split(" at ")[0] for line in lines] for name, lines in found.items() if lines}
    assert notes == {
        "Transformer": [f"A907 info embedding.weight and head.weight are one parameter ({TIED})"],
        "KeyValueCache": ["A903 info forward writes the batch into keys and values"],
        "Recurrent": [
            found["Recurrent"][0],
            "A912 info step 1 calls nothing more where step 2 calls cell",
        ],
        "MaxNorm": ["A902 info forward changes embedding.weight"],
    }
    assert found["Recurrent"][0].startswith("A909 info cell (GRUCell) is called 5 times in a step (healthy.py:")


def test_every_healthy_model_is_stepped_three_times_with_gradients(inspected: Inspected) -> None:
    assert [model.name for model in inspected.models if model.refusal is None] == list(BATCHES)
    assert {name: len(seen.whole_steps) for name, seen in inspected.seen} == dict.fromkeys(BATCHES, 3)
    assert [name for name, seen in inspected.seen if not seen.steps[-1].with_gradient] == []


def test_where_a_model_cannot_be_watched_below_autograd_the_rest_is_still_said(inspected: Inspected) -> None:
    limited = {name: seen.limited.partition(":")[0] for name, seen in inspected.seen if seen.limited}
    assert limited in ({}, {"Jacobian": "operations could not be watched"})
