"""Two equal failures have equal messages: what differs between them is replaced, and names are kept."""

from __future__ import annotations

import pytest

from diagnostics.bisection.failure_identity import normalised_message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "mat1 and mat2 shapes cannot be multiplied (8x16 and 32x16)",
            "mat1 and mat2 shapes cannot be multiplied (# and #)",
        ),
        (
            "modified by an inplace operation: [torch.FloatTensor [2, 4]], which is output 0 of ReluBackward0",
            "modified by an inplace operation: [torch.FloatTensor #], which is output # of ReluBackward0",
        ),
        ("shape '[2, -1, 7]' is invalid for input of size 12", "shape '#' is invalid for input of size #"),
        ("torch.Size([]) is not torch.Size([3, 4])", "torch.Size(#) is not torch.Size(#)"),
        ("did not receive grad for rank 1: 2 3 4", "did not receive grad for rank #: #"),
        ("parameter blocks.3.attn.w, marked ready twice", "parameter blocks.#.attn.w, marked ready twice"),
        ("<Net object at 0x7f12ab> of 1e-05 and -3.5", "<Net object at #> of # and #"),
        ("No such file: '/tmp/pytest-1/a.pt'", "No such file: '#'"),
        ("Timed out waiting 1800000ms for recv [127.0.0.1]:41313", "Timed out waiting #ms for recv #:#"),
        ("expected float16, got cuda:1 bfloat16", "expected float16, got cuda:# bfloat16"),
        ("\n  first line\nsecond line", "first line"),
        ("", ""),
    ],
)
def test_numbers_shapes_addresses_and_temporary_paths_are_left_out(text: str, expected: str) -> None:
    assert normalised_message(text) == expected


def test_a_message_of_a_whole_tensor_is_cut() -> None:
    assert len(normalised_message("tensor " + "a " * 100_000)) == 300
