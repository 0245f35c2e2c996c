"""Makes tests/triage/files with the real wandb and mlflow: runs that finish, raise, exit at once, are killed, hang.

    python tests/benchmarks/triage/make_files.py tests/triage/files     in an environment with wandb and mlflow-skinny

The files are committed, so that the tests need neither.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

JOB = """\
import os, signal, sys, time
import wandb
name, rows, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
config = {"lr": 0.1, "num_gpus": 1 if "alone" in name else 2, "data": {"workers": 0 if "alone" in name else 8},
          "api_key": "CANARY-in-a-setting"}
run = wandb.init(project="burgers", mode="offline", config=config, id=name, settings=wandb.Settings(
    x_disable_meta=False, disable_git=True, x_stats_sampling_interval=1))
for step in range(rows):
    run.log({"loss": 1 / (step + 1), "epoch": step // 5})
    time.sleep(pause)
if "raise" in name:
    raise RuntimeError("shape mismatch in block 3")
if "osexit" in name:
    os._exit(0)
if "killed" in name:
    os.kill(os.getpid(), signal.SIGKILL)
if "hangs" in name:
    time.sleep(20)
    os.kill(os.getpid(), signal.SIGKILL)
if "code" in name:
    sys.exit(3)
run.finish()
if "teardown" in name:
    os.kill(os.getpid(), signal.SIGSEGV)
"""
RUNS = {  # name: rows, pause between them
    "finishes-alone": (40, 0.0), "well-alone": (40, 0.0), "raises-late": (30, 0.0), "raises-at-once": (0, 0.0),
    "osexit-at-13": (13, 0.01), "killed-at-20": (20, 0.01), "empty": (0, 0.0), "teardown": (20, 0.0),
    "code-3": (10, 0.0), "hangs-at-5": (5, 0.01),
}  # fmt: skip
MLFLOW = """\
import mlflow, os, signal, sys
mlflow.set_tracking_uri("file:" + sys.argv[1])
mlflow.set_experiment("darcy")
for name in ("good", "bad", "open"):
    mlflow.start_run(run_name=name)
    mlflow.log_params({"num_gpus": 2, "lr": 0.1})
    for step in range(0 if name == "open" else 5):
        mlflow.log_metric("loss", 1.0, step=step)
    if name == "open":
        os.kill(os.getpid(), signal.SIGKILL)
    mlflow.end_run("FINISHED" if name == "good" else "FAILED")
"""
KEPT = (".wandb", "debug.log", "output.log")


def main() -> None:
    """Makes them in a folder of neutral name and keeps what triage reads."""
    target = Path(sys.argv[1])
    work = Path(tempfile.mkdtemp(prefix="runs-"))
    (work / "train.py").write_text(JOB)
    for name, (rows, pause) in RUNS.items():
        words = [sys.executable, "train.py", name, str(rows), str(pause)]
        subprocess.run(words, cwd=work, env={**os.environ, "WANDB_SILENT": "true", "WANDB_HOST": "node7"}, check=False)
    (work / "log.py").write_text(MLFLOW)
    subprocess.run([sys.executable, "log.py", str(work / "mlruns")], cwd=work, check=False,
                   env={**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true"})  # fmt: skip
    shutil.rmtree(target, ignore_errors=True)
    for file in work.rglob("*"):
        kept = file.name.endswith(KEPT) or "mlruns" in file.parts
        if file.is_file() and not file.is_symlink() and kept and not {"latest-run", "0"} & set(file.parts):
            made = target / file.relative_to(work)
            if made.parent.name != "wandb":
                made.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, made)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
