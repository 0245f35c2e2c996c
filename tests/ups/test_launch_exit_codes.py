"""A launcher must pass on what really happened; ranks here are programs that never import torch."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ups.errors import UpsError
from ups.launch.elastic import launch
from ups.launch.reports import FOLDER_VARIABLE, Ended, RankReport, first_failure, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the launcher runs on Linux")

FINISHED = """
import os
from ups.launch.reports import RankReport, write
rank = int(os.environ["RANK"])
def finished(steps=3):
    write(RankReport(rank=rank, state="finished", result={"stages": {"operator": {"steps": steps}}}))
"""


def run(program: str) -> tuple[int, bool]:
    launched = launch(["-c", FINISHED + program], 2)
    return launched.exit_code, launched.completed


def test_ranks_that_report_their_steps_and_exit_0_complete() -> None:
    assert run("finished()") == (0, True)


def test_a_rank_that_exits_0_without_a_report_does_not_complete() -> None:
    assert run("rank or finished()") == (1, False)


def test_ranks_that_did_different_numbers_of_steps_do_not_complete() -> None:
    assert run("finished(3 + rank)") == (1, False)


def test_the_exit_code_of_the_rank_that_failed_is_passed_on() -> None:
    assert run("finished(); raise SystemExit(rank * 7)") == (7, False)


@pytest.mark.parametrize(("number", "code"), [(9, 137), (11, 139), (6, 134)])
def test_a_rank_killed_by_a_signal_gives_128_plus_its_number(number: int, code: int) -> None:
    assert run(f"finished()\nif rank: os.kill(os.getpid(), {number})\nimport time; time.sleep(60)") == (code, False)


def test_ranks_get_rank_variables_threads_and_the_users_own_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "yes")
    program = f"""
import json
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "OMP_NUM_THREADS", "MINE")
open({str(tmp_path)!r} + f"/{{rank}}", "w").write(" ".join(os.environ[name] for name in names))
finished()
"""
    assert launch(["-c", FINISHED + program], 2, threads=3).completed
    said = [(tmp_path / str(rank)).read_text() for rank in range(2)]
    assert said == ["0 0 2 127.0.0.1 3 yes", "1 1 2 127.0.0.1 3 yes"]
    assert "UPS_REPORT_DIR" not in os.environ


def test_launchers_do_not_nest() -> None:
    with pytest.raises(UpsError, match="RANK is set: this process is a rank, and ranks do not start ranks"):
        launch(["-c", "pass"], 2, environ={"RANK": "0"})


def test_a_rank_that_died_first_is_named_and_not_the_one_that_lost_it() -> None:
    victim = RankReport(rank=0, state="failed", error="Connection reset by peer", lost_peer=True, time=1.0)
    culprit = Ended(rank=1, exit_code=-11, report=RankReport(rank=1, state="running", time=2.0))
    assert first_failure([Ended(rank=0, exit_code=1, report=victim), culprit]) == culprit


def test_among_ranks_that_raised_the_earliest_report_is_the_first_failure() -> None:
    late = Ended(rank=0, exit_code=1, report=RankReport(rank=0, state="failed", error="x", time=5.0))
    early = Ended(rank=1, exit_code=2, report=RankReport(rank=1, state="failed", error="y", time=4.0))
    ended_by_launcher = Ended(rank=2, exit_code=-15, report=RankReport(rank=2, state="running", time=1.0))
    assert first_failure([late, early, ended_by_launcher]) == early


def test_no_rank_failed_where_all_exit_codes_are_0() -> None:
    assert first_failure([Ended(rank=0, exit_code=0, report=None)]) is None


def test_a_rank_that_was_still_starting_when_its_launcher_went_reports_to_nobody(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    write(RankReport(rank=1, state="running"), {FOLDER_VARIABLE: str(gone)})
    assert [*tmp_path.iterdir()] == []
    gone.mkdir()
    write(RankReport(rank=1, state="running"), {FOLDER_VARIABLE: str(gone)})
    assert [path.name for path in gone.iterdir()] == ["rank-1.json"]
