from __future__ import annotations

import pytest
from inspected import in_one_child, line, said

BATCHES = {
    "ShrinkingWeight": "batch",
    "WeightFromBatch": "batch",
    "BufferNeededByBackward": "batch",
    "ActivationNeededByBackward": "batch",
    "ViewAsParameter": "batch",
    "ExpandedBuffer": "batch",
    "UnusedHead": "batch",
    "CalledTwice": "batch",
    "Float64Buffer": "batch",
    "ContentDecides": "long_and_short",
    "HiddenKept": "batch",
    "NormalisesTheBatch": "batch",
    "ReplacesParameter": "batch",
    "WrongShape": "batch",
    "NothingToTrain": "batch",
    "DataTie": "batch",
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    inspected = in_one_child("faulty", BATCHES)
    assert [model.refusal for model in inspected.models] == [None] * len(BATCHES)
    return said(inspected)


def at(mark: str) -> str:
    return line("faulty", mark)


def test_every_faulty_model_is_said_to_have_its_fault_and_no_other(found: dict[str, list[str]]) -> None:
    assert found == {
        "ShrinkingWeight": [f"A902 error forward changes linear.weight at {at('shrinks')}, again in each step"],
        "WeightFromBatch": [f"A902 error forward changes scale at {at('from batch')}, each batch in another way"],
        "BufferNeededByBackward": [
            f"A901 error mul_ at {at('overwrites')} overwrites buffer level that BufferNeededByBackward saved"
            " for backward",
            f"A903 info forward writes the batch into level at {at('overwrites')}",
        ],
        "ActivationNeededByBackward": [
            f"A901 error add_ at {at('adds')} overwrites a 4x8 tensor that inner.1 (Sigmoid) saved for backward"
        ],
        "ViewAsParameter": [f"A905 error first_rows at {at('view')} lies in the memory of table"],
        "ExpandedBuffer": [f"A906 error offset at {at('expanded')} is an expanded view: 1 in memory, 8 shown"],
        "UnusedHead": [f"A908 warning auxiliary_head (2 parameters) at {at('unused')} gets no gradient"],
        "CalledTwice": [f"A909 info encoder (Sequential) is called 2 times in a step ({at('once')} and {at('again')})"],
        "Float64Buffer": [f"A910 warning window at {at('float64')} is float64 in a model of float32"],
        "ContentDecides": [
            f"A912 warning step 1 calls high at {at('high')} where step 2 calls low at {at('low')}",
        ],
        "HiddenKept": [f"A913 error hidden, set at {at('kept')}, carries the graph of step 1 into step 2"],
        "NormalisesTheBatch": [f"A904 warning forward changes its input x at {at('normalised')}: sub_, div_"],
        "ReplacesParameter": [f"A914 error forward replaces gain by a new parameter at {at('replaced')}"],
        "WrongShape": [f"A900 error forward of second (Linear) raises RuntimeError at {at('shape')} in step 1"],
        "NothingToTrain": ["A900 warning nothing that NothingToTrain.forward returns has a gradient"],
        "DataTie": [f"A905 error head.weight at {at('data tie')} lies in the memory of embedding.weight"],
    }
