"""Sources whose packages no test has: a database as MLflow lays it out, Lightning's CSV, a run folder of ups."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from diagnostics.triage.engine import triage

DAY_S = 86_400.0


def seen(folder: Path) -> dict[str, tuple[str, int | None, int | None]]:
    rows = triage([folder], now_s=time.time() + DAY_S).rows
    return {row.run.name: (row.judgement.fate.value, row.run.rows, row.run.last_step) for row in rows}


def test_an_mlflow_database_gives_its_runs(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        database.execute("create table runs (run_uuid, status, start_time, end_time, experiment_id)")
        database.execute("create table metrics (run_uuid, key, value, timestamp, step)")
        database.execute("create table params (run_uuid, key, value)")
        database.execute("create table tags (run_uuid, key, value)")
        begin = 1_790_000_000_000
        database.execute("insert into runs values ('good', 'FINISHED', ?, ?, 1)", (begin, begin + 5000))
        database.execute("insert into runs values ('bad', 'FAILED', ?, ?, 1)", (begin + 9000, begin + 9500))
        database.executemany(
            "insert into metrics values ('good', 'loss', 1.0, ?, ?)", [(begin + step, step) for step in range(4)]
        )
        database.commit()
    assert seen(tmp_path) == {"good": ("finished", 4, 3), "bad": ("crashed", 0, None)}


def test_lightnings_csv_and_a_folder_of_ups_say_how_far_and_claim_no_end(tmp_path: Path) -> None:
    version = tmp_path / "lightning_logs" / "version_0"
    version.mkdir(parents=True)
    (version / "hparams.yaml").write_text("lr: 0.1\nact: !!python/name:torch.nn.ReLU ''\n")
    (version / "metrics.csv").write_text("epoch,step,loss\n0,9,1.0\n0,19,0.5\n")
    run = tmp_path / "burgers"
    (run / "checkpoints").mkdir(parents=True)
    (run / "config.yaml").write_text("training: {nproc: 2}\n")
    (run / "metrics.jsonl").write_text("".join(json.dumps({"step": step, "loss": 1.0}) + "\n" for step in range(3)))
    assert seen(tmp_path) == {"lightning_logs/version_0": ("unknown", 2, 19), "burgers": ("unknown", 3, 2)}


DEAD = (
    'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    main()\n'
    "OSError: [Errno 122] Disk quota exceeded: 'step=9.ckpt'\n"
)


def test_a_log_in_the_folder_that_a_tracker_wrote_is_that_runs(tmp_path: Path) -> None:
    for number in range(3):
        version = tmp_path / "lightning_logs" / f"version_{number}"
        version.mkdir(parents=True)
        (version / "metrics.csv").write_text("epoch,step,loss\n0,9,1.0\n")
        if number:
            (version / "console.log").write_text(DEAD)
    assert {name: fate for name, (fate, _, _) in seen(tmp_path).items()} == {
        "lightning_logs/version_0": "unknown",
        "lightning_logs/version_1": "crashed",
        "lightning_logs/version_2": "crashed",
    }


def test_what_torchrun_keeps_of_each_rank_belongs_to_the_run_above_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name / "ranks" / "none_x1" / "attempt_0" / "1"
        folder.mkdir(parents=True)
        (folder / "stderr.log").write_text(DEAD)
        (tmp_path / name / "metrics.jsonl").write_text('{"step": 1, "loss": 1.0}\n')
        (tmp_path / name / "config.json").write_text('{"fused": true}\n')
    rows = triage([tmp_path], now_s=time.time() + DAY_S).rows
    assert {(row.run.name, row.judgement.fate.value) for row in rows} == {("one", "crashed"), ("two", "crashed")}
    assert [dict(row.run.settings) for row in rows] == [{"fused": True}] * 2


def test_a_log_of_a_run_without_a_tracker_is_not_another_ones(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 1.0}\n')
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "console.log").write_text(DEAD)
    assert {fate for fate, _, _ in seen(tmp_path).values()} == {"unknown", "crashed"}
