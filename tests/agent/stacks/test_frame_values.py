"""What the agent reads of a waiting frame, and that the job does not notice it."""

from __future__ import annotations

import ast
import gc
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

from diagnostics.agent.frame_values import span_of, values_of

LIMIT = 7


class Batch:
    pass


class Sly:
    """An object whose attributes are code."""

    @property
    def __dict__(self):
        raise RuntimeError("asked")

    def __getattr__(self, name):
        raise RuntimeError("asked")


def _looked_at(look):
    return look(sys._getframe(1))


def _train(look, state, rows, config):
    loss, best, sly, title, password = 0.5, None, Sly(), "a text", 12345678
    _looked_at(look)
    if state.stop or config["epochs"] > LIMIT or sly.stop or state.inner.bad:
        return loss, best, sly, title, password, rows
    return None


def test_numbers_truths_none_and_lengths_are_told_and_nothing_else():
    found = {}
    state = SimpleNamespace(stop=False, unused=3, inner=SimpleNamespace(bad=2))
    _train(lambda frame: found.update(values_of(frame)), state, [1, 2], {"epochs": 9, "name": "x"})
    assert found == {
        "LIMIT": 7, "config['epochs']": 9, "len(config)": 2, "len(rows)": 2, "len(title)": 6, "loss": 0.5, "best": None,
        "state.inner.bad": 2, "state.stop": False,
    }  # fmt: skip


def test_a_frame_that_was_looked_at_keeps_nothing_alive():
    gone = []

    def work():
        batch = Batch()
        gone.append(weakref.ref(batch))
        _looked_at(values_of)
        del batch
        gc.collect()
        return gone[0]() is None

    assert work()


def test_a_function_that_keeps_its_variables_is_left_alone():
    def work():
        before = locals()
        later = 3
        return _looked_at(values_of), before, later

    values, before, _ = work()
    assert "later" not in values
    assert "later" not in before or sys.version_info >= (3, 13)


def test_a_method_of_the_name_of_a_function_that_keeps_variables_is_none():
    def evaluate(model):
        model.eval()
        later = 3
        return _looked_at(values_of), later

    def asks(text):
        later = 3
        return _looked_at(values_of), eval(text), later  # noqa: S307 - what is asked about

    def asks_by_another_name():
        import builtins

        later = 3
        return _looked_at(values_of), builtins.eval, later

    assert evaluate(SimpleNamespace(eval=lambda: None))[0]["later"] == 3
    assert asks("1")[0] == {}
    assert asks_by_another_name()[0] == {}


def test_what_a_frame_executes_is_told_by_its_place_in_the_line():
    def work(a, b):
        return a(), _looked_at(span_of), b()

    line, end_line, begin, end = work(int, int)[1]
    assert line == end_line
    assert Path(__file__).read_bytes().splitlines()[line - 1][begin:end] == b"_looked_at(span_of)"


def test_it_is_written_for_the_oldest_python_of_a_job():
    source = sys.modules[values_of.__module__].__file__
    ast.parse(Path(source).read_text(encoding="utf-8"), feature_version=(3, 8))
