"""What an agent or torch's recorder wrote may hold anything: wrong types count as missing, and sizes are bounded."""

from __future__ import annotations

from typing import Any

import pytest

from diagnostics.record.flight_recorder import MAX_ENTRIES, flight_from_json
from diagnostics.record.stacks import MAX_FRAMES, MAX_THREADS, frames_from_json

WRONG = [None, 3, "x", [], [[]], {}, {"a": 1}, True, 1 << 80, -1.5]
FRAME = {"file": "train.py", "line": 3, "function": "main"}
THREAD = {"name": "MainThread", "native": 7, "main": True, "frames": [FRAME]}
ENTRY = {
    "process_group": ["0", "default_pg"], "profiling_name": "gloo:all_reduce", "op_id": 4, "timeout_ms": 6000,
    "input_sizes": [[2, 3]], "input_dtypes": ["Float"], "retired": False, "state": "scheduled", "is_p2p": False,
    "time_created_ns": 5,
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_field_of_the_wrong_type_never_raises(wrong: Any) -> None:
    for field in THREAD:
        frames_from_json({"threads": [{**THREAD, field: wrong}, wrong], "group_number": wrong})
    for field in FRAME:
        frames_from_json({"threads": [{**THREAD, "frames": [{**FRAME, field: wrong}, wrong]}]})
    for field in ENTRY:
        flight_from_json({"entries": [{**ENTRY, field: wrong}, wrong]})


def test_what_is_no_answer_is_refused() -> None:
    for wrong in (None, 3, "x", [], {"threads": 3, "entries": "x"}):
        with pytest.raises(ValueError, match="holds no list"):
            frames_from_json(wrong)
        with pytest.raises(ValueError, match="holds no list"):
            flight_from_json(wrong)


def test_a_huge_answer_is_cut() -> None:
    many = frames_from_json({"threads": [{**THREAD, "frames": [FRAME] * 5000}] * 5000})
    assert (len(many.threads), len(many.main)) == (MAX_THREADS, MAX_FRAMES)
    assert len(flight_from_json({"entries": [ENTRY] * (MAX_ENTRIES + 500)})) == MAX_ENTRIES
