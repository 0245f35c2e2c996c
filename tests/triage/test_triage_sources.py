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
