"""What parts the runs that died from those that lived, with the runs for and against."""

from __future__ import annotations

import time

from diagnostics.triage.contrasts import Pattern, fisher, patterns
from diagnostics.triage.run import Judgement, RunFate, TrackedRun
from diagnostics.triage.table import pattern_lines
from diagnostics.triage.trace import RunTrace, Scalar

NOW_S = time.time()
Row = tuple[RunFate, int, dict[str, Scalar]]


def judged(*runs: Row) -> list[tuple[TrackedRun, Judgement]]:
    return [
        (
            TrackedRun((RunTrace(source="wandb", path=f"/{number}", run_id=f"r{number}", rows=rows,
                                 started_s=NOW_S + number, config=config),)),
            Judgement(fate=fate, evidence=("seen",)),
        )
        for number, (fate, rows, config) in enumerate(runs)
    ]  # fmt: skip


def told(*runs: Row) -> list[str]:
    return [line for pattern in patterns(judged(*runs)) for line in pattern_lines(pattern)]


def test_seven_of_nine_died_and_what_they_share_is_told_with_the_numbers() -> None:
    died = [(RunFate.CRASHED, 0, {"workers": 8, "lr": 0.1 * n, "seed": n, "commit": "2595dca"}) for n in range(7)]
    lived = [(RunFate.FINISHED, 9, {"workers": 0, "lr": 0.1 * n, "seed": n, "commit": "2595dca"}) for n in range(2)]
    assert told(*died, *lived) == [
        "7 of 9 runs died",
        "  workers = 8: 7 of 7 with it, 0 of 2 without; 9 runs for, 0 against; by chance in 0.028",
    ]


def test_since_a_commit_is_told_by_the_time_of_its_first_run() -> None:
    runs: list[Row] = [(RunFate.FINISHED, 5, {"commit": f"good{n}"}) for n in range(4)]
    runs += [
        (RunFate.CRASHED, 0, {"commit": "bad000"}),
        *[(RunFate.CRASHED, 0, {"commit": f"bad{n}"}) for n in range(3)],
    ]
    assert told(*runs) == [
        "4 of 8 runs died",
        "  since commit bad000: 4 of 4 with it, 0 of 4 without; 8 runs for, 0 against; by chance in 0.014",
    ]


def test_two_runs_and_settings_that_change_with_each_run_are_no_pattern() -> None:
    few: list[Row] = [
        (RunFate.CRASHED, 1, {"workers": 8}),
        (RunFate.FINISHED, 9, {"workers": 0}),
    ]
    assert told(*few) == ["1 of 2 runs died: no setting parts them more clearly than chance would"]
    mixed = [(RunFate.CRASHED if n % 2 else RunFate.FINISHED, 9, {"workers": n // 2 % 2, "seed": n}) for n in range(12)]
    assert told(*mixed) == ["6 of 12 runs died: no setting parts them more clearly than chance would"]  # type: ignore[arg-type]


def test_where_all_died_nothing_is_claimed_and_where_none_did_nothing_is_said() -> None:
    assert told(*[(RunFate.CRASHED, 3, {"workers": 8})] * 9) == ["9 of 9 runs died: none lived to compare with"]
    assert patterns(judged(*[(RunFate.FINISHED, 3, {"workers": 8})] * 9)) == ()


def test_early_deaths_are_compared_with_all_that_came_to_a_row() -> None:
    early = [(RunFate.CRASHED, 0, {"ranks": 2, "compile": True}) for _ in range(5)]
    late = [(RunFate.CRASHED, 7, {"ranks": 2, "compile": False}) for _ in range(3)]
    lived = [(RunFate.FINISHED, 9, {"ranks": 1, "compile": False}) for _ in range(3)]
    found = patterns(judged(*early, *late, *lived))  # type: ignore[arg-type]
    assert [(one.words, one.contrasts[0].settings) for one in found] == [
        ("8 of 11 runs died", ("ranks = 1",) if found[0].contrasts[0].with_it[0] == 0 else ("ranks = 2",)),
        ("5 of 11 runs died before the first row on disk", ("compile = True",)),
    ]
    assert all(isinstance(one, Pattern) for one in found)


def test_a_secret_and_a_duplicate_are_no_part_of_a_pattern() -> None:
    died = [(RunFate.CRASHED, 0, {"api_key": "CANARY-1", "depth": 4}) for _ in range(7)]
    lived = [(RunFate.FINISHED, 9, {"api_key": "CANARY-2", "depth": 2}) for _ in range(2)]
    twins = [(RunFate.DUPLICATE, 0, {"api_key": "CANARY-2", "depth": 2}) for _ in range(9)]
    assert told(*died, *lived, *twins) == [  # type: ignore[arg-type]
        "7 of 9 runs died",
        "  depth = 4: 7 of 7 with it, 0 of 2 without; 9 runs for, 0 against; by chance in 0.028",
    ]


def test_chance_is_fishers() -> None:
    assert [round(fisher(7, 0, 0, 2), 4), round(fisher(3, 1, 1, 3), 4), fisher(2, 2, 2, 2) > 0.5] == [
        0.0278,
        0.2429,
        True,
    ]


def test_runs_that_ended_in_one_way_are_compared_with_all_others() -> None:
    crashed: list[Row] = [(RunFate.CRASHED, 9, {"in_ram": True, "seed": n}) for n in range(4)]
    killed: list[Row] = [(RunFate.KILLED, 99, {"in_ram": False, "seed": 4 + n}) for n in range(2)]
    lived: list[Row] = [(RunFate.FINISHED, 200, {"in_ram": False, "seed": 6 + n}) for n in range(3)]
    assert told(*crashed, *killed, *lived) == [
        "6 of 9 runs died: no setting parts them more clearly than chance would",
        "4 of 9 runs crashed",
        "  in_ram = True: 4 of 4 with it, 0 of 5 without; 9 runs for, 0 against; by chance in 0.0079",
    ]
    other: list[Row] = [(fate, rows, {"seed": n}) for n, (fate, rows, _) in enumerate([*crashed, *killed, *lived])]
    assert told(*other) == ["6 of 9 runs died: no setting parts them more clearly than chance would"]


def test_where_none_is_known_to_have_lived_those_are_compared_of_which_nothing_is_known() -> None:
    crashed: list[Row] = [(RunFate.CRASHED, 9, {"fused": True}) for _ in range(4)]
    others: list[Row] = [(RunFate.UNKNOWN, 40, {"fused": False}) for _ in range(4)]
    assert told(*crashed, *others) == [
        "4 of 8 runs died, of the others nothing says how they ended",
        "  fused = True: 4 of 4 with it, 0 of 4 without; 8 runs for, 0 against; by chance in 0.014",
    ]
    lived: list[Row] = [(RunFate.FINISHED, 40, {"fused": True}) for _ in range(2)]
    assert told(*crashed, *others, *lived)[0].startswith("4 of 6 runs died")
