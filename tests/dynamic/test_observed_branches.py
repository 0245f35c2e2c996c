"""A decision that the values of waiting ranks prove, refute, or say nothing of."""

from __future__ import annotations

from dataclasses import replace

from marked_source import marked

from diagnostics.core.frame import Scalar
from diagnostics.dynamic.divergence.divergence import DivergencePoint, DivergenceQuery, ProgramPoint
from diagnostics.dynamic.divergence.localisation import divergence_points, is_unique

Told = dict[str, dict[str, Scalar]]  # function -> its variables

TWO_BRANCHES = """
import torch.distributed as dist
def fit(state, config):
    for epoch in range(config.epochs):
        dist.all_reduce(x)  # A1 T1
        if config.save:
            dist.barrier()
        if epoch > 3:
            break
        if state.bad > 2:
            break
        {written}
    dist.barrier()  # H1
fit(state, config)  # A0 H0 T0
"""


def _found(text: str, here: Told, there: Told) -> tuple[DivergencePoint, ...]:
    job = marked(text)
    one = job.parting

    def told(place: ProgramPoint, values: Told) -> ProgramPoint:
        path = (replace(frame, values=tuple(values.get(frame.function, {}).items())) for frame in place.path)
        return replace(place, path=tuple(path))

    asked = DivergenceQuery(
        agreed=one.agreed, here=one.here, here_at=told(one.here_at, here), there=one.there,
        there_at=told(one.there_at, there),
    )  # fmt: skip
    return divergence_points(job.sources, asked)


def test_the_test_that_came_out_differently_is_named_and_certain() -> None:
    values: dict[str, Scalar] = {"epoch": 1, "state.bad": 0, "config.save": False, "config.epochs": 9}
    text = TWO_BRANCHES.format(written="pass")
    found = _found(text, {"fit": {**values, "state.bad": 5}}, {"fit": values})
    assert (found[0].text, found[0].observed, is_unique(found)) == ("if state.bad > 2:", True, True)
    assert (found[0].here_values, found[0].there_values) == ((("state.bad", 5),), (("state.bad", 0),))


def test_a_counter_that_the_next_round_has_raised_proves_nothing() -> None:
    found = _found(TWO_BRANCHES.format(written="pass"), {"fit": {"epoch": 4}}, {"fit": {"epoch": 5}})
    assert not any(one.observed for one in found)


def test_a_test_that_fell_alike_on_both_comes_last_and_is_never_certain() -> None:
    values: Told = {"fit": {"epoch": 1, "config.save": False, "config.epochs": 9}}
    found = _found(TWO_BRANCHES.format(written="pass"), values, values)
    assert "if state.bad > 2:" in found[0].text
    assert not found[0].observed
    assert next(one.score for one in found if one.text == "if epoch > 3:") == 1


def test_a_value_that_was_written_since_says_nothing() -> None:
    here: Told = {"fit": {"epoch": 1, "state.bad": 5}}
    there: Told = {"fit": {"epoch": 1, "state.bad": 0}}
    for written in ("state.bad = 0", "reset(state)\ndef reset(state):\n    state.bad = 0\ndef other():\n    pass"):
        found = _found(TWO_BRANCHES.format(written=written), here, there)
        assert not any(one.there_values for one in found if one.text == "if state.bad > 2:"), written


def test_values_of_one_rank_refute_but_prove_nothing() -> None:
    found = _found(TWO_BRANCHES.format(written="pass"), {"fit": {"epoch": 1, "state.bad": 0}}, {})
    assert not any(one.observed for one in found)
    assert {one.score for one in found if one.text in ("if epoch > 3:", "if state.bad > 2:")} == {1}


LOOPS = """
import torch.distributed as dist
def fit(batches, extra):
    for batch in batches:
        dist.all_reduce(batch)  # A1 T1
        for one in extra:
            one()
    dist.barrier()  # H1
fit(batches, extra)  # A0 H0 T0
"""


def test_a_loop_over_more_on_one_rank_is_proved_and_one_over_as_many_refuted() -> None:
    more = _found(LOOPS, {"fit": {"len(batches)": 3}}, {"fit": {"len(batches)": 4}})
    assert (more[0].text, more[0].observed, is_unique(more)) == ("for batch in batches:", True, True)
    same = _found(LOOPS, {"fit": {"len(batches)": 3}}, {"fit": {"len(batches)": 3}})
    assert [one.score for one in same if one.text == "for batch in batches:"] == [1]


SKIPPED = """
import torch.distributed as dist
class Trainer:
    def __init__(self):
        self.skipped = 0
    def step(self, x):
        loss = self.net(self.pick(x))
        dist.all_reduce(loss)  # A2 T2
    def epoch(self, data):
        seen = []
        for x in data:
            try:
                seen.append(self.step(x))  # A1 T1
            except NoAnchors as error:
                self.skipped += 1
                log.debug(error)
            {more}
        dist.all_gather_object(parts, seen)  # H1
trainer.epoch(data)  # A0 H0 T0
"""


def test_what_only_a_handler_counts_says_who_was_in_it() -> None:
    here: Told = {"epoch": {"self.skipped": 1, "len(seen)": 99}}
    there: Told = {"epoch": {"self.skipped": 0, "len(seen)": 99}}
    found = _found(SKIPPED.format(more="pass"), here, there)
    assert (found[0].text, found[0].observed) == ("except NoAnchors as error:", True)
    assert (found[0].here_values, found[0].there_values) == ((("self.skipped", 1),), (("self.skipped", 0),))


def test_a_count_that_is_equal_or_that_other_statements_raise_too_says_nothing_of_a_handler() -> None:
    alike: Told = {"epoch": {"self.skipped": 1}}
    none: Told = {"epoch": {"self.skipped": 0}}
    for more, here, there in (("pass", alike, alike), ("self.skipped += x.bad", alike, none), ("pass", alike, {})):
        assert not any(one.observed for one in _found(SKIPPED.format(more=more), here, there)), more


BAD_ROWS = """
import torch.distributed as dist
def epoch(data):
    bad = []
    for x in data:
        row = parse(x)
        if not row:
            bad.append(x)
            continue
        dist.all_reduce(row)  # A1 T1
    dist.barrier()  # H1
epoch(data)  # A0 H0 T0
"""


def test_what_only_an_arm_of_a_test_collects_says_who_took_it() -> None:
    found = _found(BAD_ROWS, {"epoch": {"len(bad)": 3}}, {"epoch": {"len(bad)": 2}})
    assert (found[0].text, found[0].observed, found[0].here_values) == ("if not row:", True, (("len(bad)", 3),))


def test_a_rank_that_is_a_round_ahead_has_only_collected_more() -> None:
    found = _found(BAD_ROWS, {"epoch": {"len(bad)": 3, "step": 8}}, {"epoch": {"len(bad)": 2, "step": 7}})
    assert not any(one.observed for one in found)
