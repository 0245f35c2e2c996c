from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_model import CRASH, OTHER, Rule, Run, Simulated, job_from_record, random_nodes

from diagnostics.bisection.found import AxisRow, SettingStatus, StrategyRow
from diagnostics.bisection.search.axes import SIMPLEST, choices
from diagnostics.bisection.search.axes_search import AxesFound, search_axes
from diagnostics.bisection.search.strategies import compare_strategies
from diagnostics.bisection.trial import Failure, FailureKind, Trial

EVERYTHING = {
    "world": 2,
    "wrapper": "ddp",
    "steps": 2,
    "amp": "bfloat16",
    "accumulate": 2,
    "checkpointing": True,
    "workers": 2,
    "threads": 2,
    "compile": True,
}


def searched(rule: Rule, gpus: int = 0, **given: object) -> tuple[AxesFound, Simulated]:
    oracle = Simulated(random_nodes(1, 5), rule)
    failing = oracle.ask(job_from_record(**given), "as asked")
    assert failing.failure is not None
    return search_axes(oracle, failing, gpus=gpus), oracle


def standings(found: AxesFound) -> dict[str, SettingStatus]:
    return {row.axis: row.standing for row in found.rows}


@settings(deadline=None)
@given(st.sets(st.sampled_from(sorted(EVERYTHING)), max_size=3))
def test_the_minimal_set_is_what_the_failure_needs(needed: set[str]) -> None:
    wanted = {name: EVERYTHING[name] for name in needed}

    def rule(run: Run) -> Failure | None:
        return CRASH if all(getattr(run.settings, name) == value for name, value in wanted.items()) else None

    found, oracle = searched(rule, **EVERYTHING)
    assert found.minimal.case.settings == replace(SIMPLEST, **wanted)
    assert found.minimal.shows(CRASH)
    assert {choice.kind for choice in choices(found.minimal.case.settings)} == needed
    if not needed:
        assert oracle.tries <= 2 + 6


def test_a_failure_that_needs_nothing_takes_one_try_and_one_for_each_other_value() -> None:
    found, _ = searched(lambda run: CRASH, world=2, wrapper="ddp", steps=2)
    assert found.minimal.case.settings == SIMPLEST
    assert found.healthy is None
    assert [(row.axis, row.value, row.other, row.standing) for row in found.rows] == [
        ("world size", "2", "1", SettingStatus.NOT_NEEDED),
        ("wrapper", "ddp", "none", SettingStatus.NOT_NEEDED),
        ("steps", "2", "1", SettingStatus.NOT_NEEDED),
        ("amp", "off", "bfloat16", SettingStatus.NO_EFFECT),
        ("accumulation", "1", "2", SettingStatus.NO_EFFECT),
        ("activation checkpointing", "off", "on", SettingStatus.NO_EFFECT),
        ("workers", "0", "2", SettingStatus.NO_EFFECT),
        ("threads", "1", "2", SettingStatus.NO_EFFECT),
        ("env ATEN_CPU_CAPABILITY", "unset", "default", SettingStatus.NO_EFFECT),
        ("compile", "off", "on", SettingStatus.NO_EFFECT),
    ]


def test_how_a_model_is_stepped_is_not_tried_where_its_construction_fails() -> None:
    found, _ = searched(lambda run: replace(CRASH, phase="construct"), world=2, wrapper="ddp", steps=2)
    assert list(standings(found)) == ["world size", "wrapper", "steps", "env ATEN_CPU_CAPABILITY"]


def test_a_hang_is_not_tried_under_a_compiler() -> None:
    found, _ = searched(lambda run: replace(CRASH, kind=FailureKind.HANG, detail=""), world=2, wrapper="ddp", steps=2)
    assert "compile" not in standings(found)


def test_two_settings_in_combination_are_both_needed_and_what_heals_is_told() -> None:
    def rule(run: Run) -> Failure | None:
        one = run.settings
        healed = dict(one.options).get("find_unused_parameters") or one.checkpointing
        return CRASH if one.wrapper == "ddp" and one.steps > 1 and not healed else None

    found, _ = searched(rule, world=2, wrapper="ddp", steps=2)
    assert found.minimal.case.settings == replace(SIMPLEST, wrapper="ddp", steps=2)
    assert found.rows[:3] == (
        AxisRow(axis="world size", value="2", other="1", standing=SettingStatus.NOT_NEEDED),
        AxisRow(axis="wrapper", value="ddp", other="none", standing=SettingStatus.NEEDED),
        AxisRow(axis="steps", value="2", other="1", standing=SettingStatus.NEEDED),
    )
    assert {row.axis for row in found.rows if row.standing is SettingStatus.HEALS} == {
        "activation checkpointing",
        "find_unused_parameters",
    }
    assert found.healthy is not None
    assert found.healthy.passed
    assert found.evidence == (
        "with wrapper none instead of ddp it passes",
        "with steps 1 instead of 2 it passes",
        "with activation checkpointing on it passes",
        "with find_unused_parameters on it passes",
    )


def test_more_ranks_than_needed_become_two() -> None:
    found, _ = searched(lambda run: CRASH if run.settings.world > 1 else None, world=8, wrapper="fsdp2")
    assert found.minimal.case.settings == replace(SIMPLEST, world=2)
    assert found.rows[0] == AxisRow(axis="world size", value="2", other="1", standing=SettingStatus.NEEDED)


def test_a_setting_without_which_it_fails_in_another_way_is_not_called_needed() -> None:
    found, _ = searched(lambda run: CRASH if run.settings.wrapper == "ddp" else OTHER, world=2, wrapper="ddp")
    assert found.rows[1] == AxisRow(
        axis="wrapper",
        value="ddp",
        other="none",
        standing=SettingStatus.NOT_TRIED,
        note="it fails in another way: RuntimeError in forward",
    )


def test_a_refused_value_is_told_as_not_tried() -> None:
    class Refusing(Simulated):
        def run(self, case):  # type: ignore[no-untyped-def]
            refused = case.settings.compile
            return Trial(case=case, refusal="no compiler") if refused else super().run(case)

    oracle = Refusing(random_nodes(1, 5), lambda run: CRASH)
    found = search_axes(oracle, oracle.ask(job_from_record(), "as asked"))
    assert found.rows[-1] == AxisRow(
        axis="compile", value="off", other="on", standing=SettingStatus.NOT_TRIED, note="cannot be run: no compiler"
    )


def test_on_a_gpu_its_switches_are_tried_and_the_processor_is_the_simpler_device() -> None:
    def rule(run: Run) -> Failure | None:
        return CRASH if run.settings.device == "cuda" and not run.settings.env else None

    found, _ = searched(rule, gpus=2, world=2, wrapper="ddp", device="cuda", backend="nccl")
    assert found.minimal.case.settings == replace(SIMPLEST, device="cuda")
    healing = {row.axis for row in found.rows if row.standing is SettingStatus.HEALS}
    assert healing == {"env CUDA_LAUNCH_BLOCKING", "env PYTORCH_CUDA_ALLOC_CONF"}


def test_where_tries_run_out_the_failing_case_stays_and_the_rest_is_not_tried() -> None:
    oracle = Simulated(random_nodes(1, 5), lambda run: CRASH if run.settings.world > 1 else None, most=2)
    found = search_axes(oracle, oracle.ask(job_from_record(world=2, wrapper="ddp"), "as asked"))
    assert found.minimal.case == job_from_record(world=2, wrapper="ddp")
    assert {row.standing for row in found.rows} == {SettingStatus.NOT_TRIED}


def test_ways_of_training_are_compared_on_two_ranks() -> None:
    def rule(run: Run) -> Failure | None:
        return {"ddp": CRASH, "fsdp2": CRASH, "fsdp1": OTHER}.get(run.settings.wrapper)

    oracle = Simulated(random_nodes(1, 5), rule)
    rows = compare_strategies(oracle, oracle.ask(job_from_record(wrapper="ddp"), "as asked"))
    assert rows == (
        StrategyRow(way="no wrapper", result="passes"),
        StrategyRow(way="ddp", result="fails"),
        StrategyRow(way="fsdp2", result="fails"),
        StrategyRow(way="fsdp1", result="fails otherwise", note="RuntimeError in forward"),
        StrategyRow(way="fabric", result="passes"),
    )
    assert all(trial.case.settings.world == 2 for trial in list(oracle.known.values())[1:])


@pytest.mark.parametrize("search", [search_axes, compare_strategies])
def test_a_trial_that_does_not_fail_is_refused(search) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="fail"):
        search(Simulated([], lambda run: None), Trial(case=job_from_record()))
