"""Sixty-four ranks on a narrow screen, which processes are one job, and what looks mean: all from made-up values."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from shown_text import HOSTILE, poisoned, unprintable

from diagnostics.attach.job_of_pid import job_of, jobs_below
from diagnostics.attach.stack_tree_text import TextTree, lines_of
from diagnostics.commands import stacks
from diagnostics.core.console import printable
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.job.stack_classifier import RankActivity, classify
from diagnostics.dynamic.stall.liveness import assess
from diagnostics.dynamic.stall.motion import ActivityDelta, ActivityLevel, Observation, moved
from diagnostics.dynamic.stall.stack_prefix_tree import ProcessStack, ranges
from diagnostics.machine.facts import Activity
from diagnostics.machine.processes.process_table import TableRow

SITE = "/env/lib/python3.11/site-packages"
MAIN = Frame(file="/job/train.py", line=90, function="main")
LOOP = Frame(file="/job/train.py", line=40, function="loop")
SAVE = Frame(file="/job/a_rather_long_folder_name/checkpointing/save_everything.py", line=55, function="save_shards")
REDUCE = Frame(file=f"{SITE}/torch/distributed/distributed_c10d.py", line=3252, function="all_reduce")
BACKWARD = Frame(file=f"{SITE}/torch/autograd/graph.py", line=979, function="_engine_run_backward")
WAITS, SAVES = (REDUCE, LOOP, MAIN), (SAVE, LOOP, MAIN)


def standing(
    rank: int, frames: tuple[Frame, ...], motion: ActivityLevel = ActivityLevel.FROZEN, **told: object
) -> ProcessStack:
    facts: dict[str, object] = {"looks": 5, "stacks": 5, "cpus": 0.0, "switches_per_s": 0.0, **told}
    return ProcessStack(
        pid=1000 + rank,
        parent_pid=999,
        part=ProcessRole.RANK,
        rank=rank,
        owner=None,
        argv=("python", "train.py"),
        frames=frames,
        place=classify(frames),
        moved=ActivityDelta(motion=motion, **facts),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("colour", [False, True])
def test_sixty_four_ranks_fit_on_a_narrow_screen(colour: bool) -> None:
    ranks = [standing(rank, SAVES if rank in (3, 17) else WAITS) for rank in range(64) if rank != 60]
    screen = TextTree(cwd="/job", width=80, colour=colour)
    lines = lines_of(ranks, screen, seconds=1.0, looks=2, world_size=64)
    plain = [re.sub("\033\\[[0-9]*m", "", line) for line in lines]
    assert max(map(len, plain)) <= 80
    assert plain == [
        "ups-doctor: 63 ranks of 64; 2 looks in 1.0 s",
        "  ranks 0-2,4-16,18-59,61-63",
        "              train.py:40 loop: waits in all_reduce",
        "              same stack, did not run",
        "  ranks 3,17  a_rather_long_folder_name/checkpointing/save_everything.py:55",
        "              save_shards",
        "              same stack, did not run",
        "  rank 60: not on this machine",
        "",
        "stacks, outermost first:",
        "  ranks 0-59,61-63",
        "    train.py:90 main",
        "    train.py:40 loop",
        "    ranks 0-2,4-16,18-59,61-63",
        "      torch/distributed/distributed_c10d.py:3252 all_reduce",
        "    ranks 3,17",
        "      a_rather_long_folder_name/checkpointing/save_everything.py:55 save_shards",
    ]


def test_what_the_looks_mean() -> None:
    def words(*ranks: ProcessStack) -> tuple[bool, bool, str]:
        found = assess(ranks, seconds=5.0, cwd="/job", world_size=len(ranks))
        return found.still, found.goes_on, found.words

    asleep = (Frame(file="/job/train.py", line=7, function="wait"), MAIN)
    over = "for the 5 s of looking"
    assert words(standing(0, WAITS), standing(1, SAVES)) == (True, False, f"no rank came any further {over}")
    assert words(standing(0, WAITS), standing(1, WAITS)) == (
        True, False, f"ranks 0-1 waited in all_reduce at train.py:40 {over}",
    )  # fmt: skip
    # A slow step: who waits was woken, so something does arrive.
    assert words(standing(0, WAITS, ActivityLevel.POLLS), standing(1, asleep, ActivityLevel.POLLS))[:2] == (
        False,
        False,
    )
    evaluates = standing(1, SAVES, ActivityLevel.MOVES, cpus=1.0, same_function=False)
    assert words(standing(0, WAITS), evaluates)[:2] == (False, True)
    spins = standing(1, asleep, ActivityLevel.MOVES, cpus=1.0, same_function=True)
    assert words(standing(0, WAITS), spins)[:2] == (False, False)
    assert words(standing(0, WAITS), standing(1, SAVES, ActivityLevel.STOPPED))[:2] == (True, False)
    assert words(standing(0, asleep, ActivityLevel.POLLS, switches_per_s=2.0))[:2] == (False, False)
    assert words(standing(0, ()))[:2] == (False, False)


def test_who_waits_for_whom_is_told_only_where_the_call_needs_all() -> None:
    def words(*ranks: ProcessStack, world_size: int | None = None) -> str:
        return assess(ranks, seconds=5.0, cwd="/job", world_size=world_size or len(ranks)).words.partition(", for ")[0]

    load = (Frame(file="/job/data.py", line=9, function="__getitem__"),)
    busy = standing(1, SAVES, ActivityLevel.BUSY, cpus=1.0, same_function=True)
    where = "a_rather_long_folder_name/checkpointing/save_everything.py:55"
    assert words(standing(0, WAITS), busy, standing(2, WAITS)) == (
        f"ranks 0,2 waited in all_reduce at train.py:40 for rank 1, which worked at {where}"
    )
    elsewhere = (REDUCE, Frame(file="/job/train.py", line=50, function="check"), MAIN)
    assert words(standing(0, WAITS), busy, standing(2, elsewhere)) == (
        f"rank 0 waited in all_reduce at train.py:40, rank 2 waited in all_reduce at train.py:50 for rank 1, "
        f"which worked at {where}"
    )
    assert (
        "or for rank 2 of 3, which is not on this machine"
        in assess((standing(0, WAITS), busy), seconds=5.0, cwd="/job", world_size=3).words
    )
    receives = (Frame(file=REDUCE.file, line=9, function="recv"), LOOP, MAIN)  # from whom no stack tells
    assert words(standing(0, receives), busy) == f"rank 1 worked at {where}; rank 0 waited in recv at train.py:40"
    fed = standing(1, (LOOP, MAIN), ActivityLevel.POLLS)
    worker = replace(
        standing(1, load, ActivityLevel.BUSY, cpus=1.0), pid=77, part=ProcessRole.DATA_WORKER, owner=fed.pid
    )
    assert words(standing(0, WAITS), fed, worker, world_size=2) == (
        "rank 0 waited in all_reduce at train.py:40 for rank 1, "
        "which stood at train.py:40 while its data worker 77 worked at data.py:9"
    )


def test_a_thread_that_did_not_run_is_told_from_one_that_polls_and_one_that_works() -> None:
    def look(
        at_s: float, frames: tuple[Frame, ...], switches: int, cpu_s: float = 0.0, reaped_cpu_s: float = 0.0
    ) -> Observation:
        activity = Activity(
            state="S", waits_in="futex_do_wait", system_call="", main_cpu_s=cpu_s, switches=switches, cpu_s=cpu_s,
            bytes_moved=0, reaped_cpu_s=reaped_cpu_s,
        )  # fmt: skip
        return Observation(at_s=at_s, frames=frames, activity=activity)

    inner = Frame(file="/usr/lib/python3.11/selectors.py", line=415, function="select")
    assert moved([look(0, WAITS, 7), look(1, WAITS, 7)]).motion is ActivityLevel.FROZEN
    assert moved([look(0, WAITS, 7), look(1, WAITS, 9)]).motion is ActivityLevel.POLLS
    assert moved([look(0, SAVES, 7), look(1, (inner, *SAVES), 9)]).motion is ActivityLevel.POLLS
    assert moved([look(0, SAVES, 7), look(1, SAVES, 9, cpu_s=0.9)]).motion is ActivityLevel.BUSY
    assert moved([look(0, SAVES, 7), look(1, WAITS, 9)]).motion is ActivityLevel.MOVES
    assert moved([look(0, SAVES, 7)]).motion is ActivityLevel.UNKNOWN
    reaps = moved([look(0, SAVES, 7), look(1, SAVES, 9, reaped_cpu_s=3600.0)])
    assert (reaps.motion, reaps.cpus) == (ActivityLevel.BUSY, 0.0)  # it went on, and an hour was not used in a second


def test_stacks_tell_in_which_call_a_rank_waits() -> None:
    wrapper = Frame(file=f"{SITE}/torch/distributed/c10d_logger.py", line=83, function="wrapper")
    objects = Frame(file=f"{SITE}/torch/distributed/distributed_c10d.py", line=9, function="all_gather_object")
    elastic = Frame(file=f"{SITE}/torch/distributed/elastic/agent/server/api.py", line=9, function="_invoke_run")
    assert [
        (place.doing, place.op)
        for place in map(
            classify, ((REDUCE, wrapper, objects, wrapper, LOOP), (BACKWARD, LOOP), (elastic, LOOP), SAVES, ())
        )
    ] == [
        (RankActivity.WAITS, "all_gather_object"),
        (RankActivity.BACKWARD, "backward"),
        (RankActivity.OUTSIDE, ""),
        (RankActivity.OUTSIDE, ""),
        (RankActivity.UNKNOWN, ""),
    ]


def row(pid: int, ppid: int, *argv: str, **variables: str) -> TableRow:
    return TableRow(pid=pid, ppid=ppid, start_ticks=pid, state="S", argv=argv, variables=variables)


def test_a_job_reaches_up_to_its_launcher_and_sideways_to_ranks_started_by_hand_and_no_further() -> None:
    def rank(number: int, port: str) -> dict[str, str]:
        return {"RANK": str(number), "WORLD_SIZE": "2", "MASTER_ADDR": "h", "MASTER_PORT": port}

    table = {
        one.pid: one
        for one in (
            row(10, 1, "bash"),
            row(20, 10, "python", "sweep.py"),
            row(30, 20, "python", "/env/bin/torchrun", "train.py"),
            row(31, 30, "python", "train.py", **rank(0, "1")),
            row(32, 30, "bash", "wrap.sh"),
            row(33, 32, "python", "train.py", **rank(1, "1")),
            row(34, 31, "ffmpeg"),
            row(40, 20, "python", "/env/bin/torchrun", "other.py"),
            row(41, 40, "python", "other.py", **rank(0, "2")),
            row(50, 10, "python", "hand.py", **rank(0, "3")),
            row(51, 10, "python", "hand.py", **rank(1, "3")),
            row(60, 10, "python", "doctor.py"),
        )
    }
    own = frozenset({60})

    def pids(pid: int) -> list[int]:
        return sorted(one.pid for one in job_of(pid, table, own).members)

    assert [pids(pid) for pid in (30, 33, 34, 32)] == [[30, 31, 32, 33, 34]] * 4
    assert (pids(50), pids(51), pids(41)) == ([50, 51], [50, 51], [40, 41])
    assert pids(10) == sorted(set(table) - own)
    assert [one.pid for one in jobs_below(job_of(10, table, own))] == [50, 30, 40]
    assert jobs_below(job_of(31, table, own)) == ()


def test_ranges_of_ranks_are_short() -> None:
    assert ranges([5, 0, 1, 2]) == "0-2,5"


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_job_calls_its_things_moves_no_cursor_and_paints_nothing(name: str, colour: bool) -> None:
    one = poisoned(standing(0, SAVES), name)
    other = poisoned(replace(standing(1, ()), part=ProcessRole.LAUNCHER, rank=None), name)
    screen = TextTree(cwd="/job", width=200, colour=colour, verbose=True, texts={SAVE: "save()"})
    lines = lines_of([one, other], screen, seconds=1.0, looks=2, world_size=2)
    shown = printable("\n".join(lines), colour=colour)
    assert unprintable(shown, colour=colour) == []
    assert len(shown.splitlines()) == len(lines)
    assert "\033[31mred" not in shown


def test_what_is_piped_is_not_cut_and_columns_that_are_asked_for_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.__stdout__", None)  # a terminal of the one who runs this test is no terminal here
    monkeypatch.delenv("COLUMNS", raising=False)
    rank = replace(standing(0, WAITS), argv=("python", "x" * 500))
    launcher = replace(rank, rank=None, part=ProcessRole.LAUNCHER)
    assert len(last_line_of([launcher])) > 500
    monkeypatch.setenv("COLUMNS", "60")
    assert len(last_line_of([launcher])) == 60


def last_line_of(standings: list[ProcessStack]) -> str:
    screen = TextTree(cwd="/job", width=stacks.screen_width(), colour=False)
    return lines_of(standings, screen, seconds=1.0, looks=2, world_size=None)[-1]
