"""What tests and loops come to where some values are known."""

from __future__ import annotations

import ast

import pytest

from diagnostics.static.dataflow.known_values import read_in, truth, turns

VALUES = {
    "loss": 0.5, "worst": float("nan"), "self.stop": True, "best": None, "len(batches)": 3, "len(empty)": 0,
    "cfg['epochs']": 2, "n": 4, "len(self.queue)": 1, "flag": 1.0,
}  # fmt: skip


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("test", "falls"),
    [
        ("loss > 0.1", True), ("loss > 1", False), ("0 < loss < 1", True), ("self.stop", True),
        ("not self.stop", False),
        ("best is None", True), ("batches is None", False), ("batches", True), ("empty", False),
        ("not self.queue", False),
        ("len(batches) >= n", False), ("cfg['epochs'] == 2", True), ("math.isnan(worst)", True),
        ("loss / 2 < 0.3", True),
        ("torch.isfinite(loss).all()", True), ("flag.item()", True), ("other and not self.stop", False),
        ("other or self.stop", True), ("n % 2 == 0 and n > 3", True), ("-n < 0", True),
        ("other", None), ("loss > other", None), ("f(loss)", None), ("batches == 3", None), ("best > 1", None),
        ("n / (n - 4) > 1", None), ("other and self.stop", None), ("len(self.stop)", None),
    ],
)  # fmt: skip
def test_a_test_falls_as_python_would_let_it_or_is_open(test: str, falls: bool | None) -> None:
    assert truth(_expression(test), VALUES) is falls


@pytest.mark.parametrize(
    ("iterable", "times"),
    [
        ("range(n)", 4), ("range(1, n, 2)", 2), ("batches", 3), ("enumerate(batches)", 3), ("zip(batches, empty)", 0),
        ("[1, 2]", 2), ("loader", None), ("range(other)", None), ("zip(batches, loader)", None), ("[*batches]", None),
    ],
)  # fmt: skip
def test_how_often_a_loop_goes_round(iterable: str, times: int | None) -> None:
    assert turns(_expression(iterable), VALUES) == times


def test_what_a_test_read_is_told_once_in_its_order() -> None:
    assert list(read_in(_expression("self.stop or loss > best and loss < len(batches)"), VALUES)) == [
        ("self.stop", True), ("loss", 0.5), ("best", None), ("len(batches)", 3),
    ]  # fmt: skip
