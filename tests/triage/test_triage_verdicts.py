"""Each verdict from a run that really went so, beside a healthy twin; files of W&B and MLflow were made by these."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from runs_made import FILES, jsonl, tensorboard_job

from diagnostics.core.findings import Confidence
from diagnostics.triage.engine import Triage, triage
from diagnostics.triage.run import RunFate
from diagnostics.triage.table import crash_point

DAY_S = 86_400.0


def fates(found: Triage) -> dict[str, str]:
    return {row.run.name: row.judgement.fate.value for row in found.rows}


def later(*paths: Path) -> Triage:
    return triage(paths, now_s=time.time() + DAY_S)


def test_runs_of_the_real_wandb_get_the_verdict_of_how_they_really_ended() -> None:
    found = later(FILES / "wandb")
    assert {
        row.run.name: (row.judgement.fate.value, row.run.rows, crash_point(row), row.judgement.confidence)
        for row in found.rows
    } == {
        "finishes-alone": ("finished", 40, "", Confidence.CONFIRMED),
        "well-alone": ("finished", 40, "", Confidence.CONFIRMED),
        "raises-late": ("crashed", 30, "after step 29", Confidence.CONFIRMED),
        "raises-at-once": ("crashed", 0, "before the first row", Confidence.CONFIRMED),
        "osexit-at-13": ("crashed", 0, "before the first row on disk", Confidence.LIKELY),
        "killed-at-20": ("crashed", 0, "before the first row on disk", Confidence.LIKELY),
        "empty": ("finished with 0 rows", 0, "", Confidence.CONFIRMED),
        "teardown": ("finished", 20, "", Confidence.CONFIRMED),
        "code-3": ("crashed", 10, "after step 9", Confidence.CONFIRMED),
        "hangs-at-5": ("crashed", 5, "at or after step 4", Confidence.LIKELY),
    }
    assert found.unread == ()


def test_the_settings_of_a_run_are_known_also_where_the_store_holds_nothing() -> None:
    settings = {
        row.run.name: (row.run.world_size, row.run.config["data.workers"]) for row in later(FILES / "wandb").rows
    }
    assert settings["osexit-at-13"] == (2, 8)
    assert settings["finishes-alone"] == (1, 0)


def test_what_mlflow_left_open_is_no_crash_until_it_is_old() -> None:
    texts = [path.read_text() for path in FILES.rglob("meta.yaml")]
    started = [int(line.split()[1]) / 1000 for text in texts for line in text.splitlines() if "start_time:" in line]
    young = triage([FILES / "mlruns"], now_s=max(started) + 1)
    assert sorted(fates(young).values()) == ["crashed", "finished", "too early to know"]
    assert sorted(fates(later(FILES / "mlruns")).values()) == ["crashed", "finished", "never logged"]


def test_a_live_process_is_running_then_hung_and_gone_unknown_since_tensorboard_records_no_end(tmp_path: Path) -> None:
    with tensorboard_job(tmp_path / "rows", 20) as job, tensorboard_job(tmp_path / "none", 0):
        assert fates(triage([tmp_path])) == {"none": "too early to know", "rows": "running"}
        assert fates(later(tmp_path)) == {"none": "hung", "rows": "hung"}
        job.kill()
        job.wait()
        found = {row.run.name: row for row in triage([tmp_path]).rows}
    assert (found["rows"].judgement.fate, found["rows"].judgement.evidence) == (
        RunFate.UNKNOWN,
        ("it is over after 20 rows, and nothing that it left records whether it ended well",),
    )
    assert found["none"].judgement.fate is RunFate.TOO_EARLY


def test_a_success_that_the_log_claims_is_a_lie_where_the_tracker_was_never_closed(tmp_path: Path) -> None:
    lie, truth = tmp_path / "lie.log", tmp_path / "truth.log"
    for path, name in ((lie, "osexit-at-13"), (truth, "well-alone")):
        run = next((FILES / "wandb").glob(f"*-{name}"))
        path.write_text("Error: remote port forwarding failed for listen port 19066\n"
                        f"wandb: wandb sync wandb/{run.name}\n"
                        "\u2713 Training pipeline completed\nstopping instance 27823831.\n")  # fmt: skip
    found = {row.run.name: row.judgement for row in later(FILES / "wandb", lie, truth).rows}
    assert found["well-alone"].fate is RunFate.FINISHED
    assert (found["osexit-at-13"].fate, found["osexit-at-13"].confidence, found["osexit-at-13"].evidence) == (
        RunFate.LIES,
        Confidence.LIKELY,
        (
            "the log says '\u2713 Training pipeline completed', yet the tracker was never closed and holds 0 rows",
            "rows may have been logged and lost in its buffer: 0 rows do not prove that none was",
        ),
    )


def test_a_run_that_was_closed_and_then_died_was_killed_after_finishing(tmp_path: Path) -> None:
    teardown = next((FILES / "wandb").glob("*-teardown"))
    log = tmp_path / "torchrun.log"
    log.write_text(
        f"wandb: wandb sync wandb/{teardown.name}\n"
        "E1123 22:00:38 torch/distributed/elastic/multiprocessing/api.py:984] failed (exitcode: -11) local_rank: 0 "
        "(pid: 4711) of binary: python\n"
    )
    assert fates(later(teardown, log)) == {"teardown": "killed after finishing"}
    assert fates(later(teardown)) == {"teardown": "finished"}


def test_a_time_limit_of_slurm_is_told_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "slurm-12.out").write_text(
        "epoch 3\nslurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-03-01T12:00:00 DUE TO TIME LIMIT ***\n"
    )
    (tmp_path / "slurm-13.out").write_text("epoch 3\nTraining finished\n")
    rows = {row.run.name: row.judgement for row in later(tmp_path).rows}
    assert (rows["slurm-12"].fate, rows["slurm-12"].evidence[0]) == (
        RunFate.KILLED, "Slurm ended job 12 at 2026-03-01T12:00:00: its time limit was over",
    )  # fmt: skip
    assert rows["slurm-13"].fate is RunFate.FINISHED


@pytest.mark.parametrize("style", ["bars", "columns"])
def test_sacct_tells_the_end_of_each_job(tmp_path: Path, style: str) -> None:
    rows = [
        ("JobID", "JobName", "State", "ExitCode"), ("12", "train", "FAILED", "0:0"),
        ("12.0", "python", "FAILED", "0:11"), ("13", "train", "COMPLETED", "0:0"), ("14", "train", "PREEMPTED", "0:0"),
    ]  # fmt: skip
    wide = [tuple("-" * 12 for _ in rows[0])]
    lines = ["|".join(row) for row in rows] if style == "bars" else [
        " ".join(cell.rjust(12) for cell in row) for row in [rows[0], *wide, *rows[1:]]
    ]  # fmt: skip
    (tmp_path / "sacct.txt").write_text("\n".join(lines) + "\n")
    found = later(tmp_path)
    assert fates(found) == {"slurm-12": "crashed", "slurm-13": "finished", "slurm-14": "killed"}
    assert found.rows[0].judgement.evidence == ("Slurm's state is FAILED, exit code 0, signal 11",)


def test_two_ranks_that_opened_a_run_each_are_one_run_and_a_duplicate(tmp_path: Path) -> None:
    program = tmp_path / "job.py"
    program.write_text(
        "import json, os, sys, time\nfrom pathlib import Path\n"
        "made = time.strftime('%Y%m%d_%H%M%S')\n"
        "folder = Path(sys.argv[1]) / f'offline-run-{made}-{sys.argv[2]}'\n(folder / 'logs').mkdir(parents=True)\n"
        "time_s = time.time()\n"
        "stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(time_s)) + f',{int(time_s % 1 * 1000):03d}'\n"
        "line = f'{stamp} INFO    MainThread:{os.getpid()} [wandb_init.py:init():789] wandb.init called\\n'\n"
        "(folder / 'logs' / 'debug.log').write_text(line + \"config: {'num_gpus': \" + sys.argv[3] + '}\\n')\n"
        "(folder / 'files').mkdir()\nprint('up', flush=True)\nsys.stdin.read()\n"
        "(folder / 'files' / 'output.log').write_text('over\\n')\n"
    )
    for world, expected in (("2", ["crashed", "duplicate of another rank"]), ("1", ["crashed", "crashed"])):
        ranks = [
            subprocess.Popen(
                [sys.executable, program, tmp_path / world, name, world], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for name in ("first", "second")
        ]
        for rank in ranks:
            assert rank.stdout is not None
            rank.stdout.readline()
        for rank in ranks:
            rank.communicate()
        assert sorted(fates(later(tmp_path / world)).values()) == expected


def test_a_watched_job_is_one_row_by_the_doctors_report(tmp_path: Path) -> None:
    doctor = [str(Path(sys.executable).parent / "ups-doctor"), "run", "--report-dir"]
    for name, code in (("bad", "raise KeyError('lr')"), ("good", "pass")):
        words = [*doctor, str(tmp_path / name), "--", sys.executable, "-c", code]
        subprocess.run(words, capture_output=True, check=False, cwd=tmp_path)
    rows = later(tmp_path).rows
    assert [row.judgement.fate for row in rows] == [RunFate.CRASHED, RunFate.FINISHED]
    assert "KeyError: 'lr'" in rows[0].judgement.evidence[0]


def test_rows_in_a_source_that_records_no_end_are_no_crash_unless_the_last_is_torn(tmp_path: Path) -> None:
    jsonl(tmp_path, "a", 5, lr=0.1)
    torn = jsonl(tmp_path, "b", 5, lr=0.1) / "metrics.jsonl"
    torn.write_bytes(torn.read_bytes()[:-9])
    assert fates(triage([tmp_path])) == {"a": "running", "b": "running"}
    found = later(tmp_path)
    assert fates(found) == {"a": "unknown", "b": "crashed"}
    assert [row.run.last_step for row in found.rows] == [4, 3]
    assert found.rows[1].run.traces[0].notes == ("the last line is cut off: it ended while a row was written",)


def test_nothing_of_the_users_is_changed() -> None:
    def state() -> list[tuple[str, int, int]]:
        return [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(FILES.rglob("*"))]

    before = state()
    later(FILES)
    assert state() == before
