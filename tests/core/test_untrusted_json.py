from __future__ import annotations

import pytest

from diagnostics.core import untrusted_json


def test_numbers_beyond_all_reason_are_null() -> None:
    text = f"[1, -5.5, {10**400}, -{'1' * 5001}, 1e999, NaN, -Infinity, {(1 << 63) - 1}, {1 << 63}]"
    assert untrusted_json.loads(text) == [1, -5.5, None, None, None, None, None, (1 << 63) - 1, None]


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\0", b"\xff\xfe\x00"])
def test_what_is_no_json_raises_nothing_but_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        untrusted_json.loads(text)
