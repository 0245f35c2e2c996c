"""One type of number has two spellings: torch's, and the short one of configurations."""

from __future__ import annotations

import click
import pytest

from diagnostics.argument_types import PrecisionArgument


@pytest.mark.parametrize(("given", "taken"), [("bf16", "bfloat16"), ("bfloat16", "bfloat16"), ("fp16", "float16")])
def test_either_spelling_is_taken(given: str, taken: str) -> None:
    assert PrecisionArgument(["bfloat16", "float16"]).convert(given, None, None) == taken
    assert PrecisionArgument(["bf16"]).convert("bfloat16", None, None) == "bf16"


def test_another_word_is_refused_with_the_choices() -> None:
    with pytest.raises(click.BadParameter, match="'half' is not one of 'bfloat16', 'float16'"):
        PrecisionArgument(["bfloat16", "float16"]).convert("half", None, None)
