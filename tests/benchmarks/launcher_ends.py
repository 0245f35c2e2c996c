"""Whether `accelerate launch` ends later, or never, where it is watched: bare and watched, in pairs.

    python tests/benchmarks/launcher_ends.py [--pairs 30] [--tidy]

The loop of trainers/accelerate_loop.py on two CPU processes, with torch's own defaults: as many threads as it likes,
and no end of the process group (`--tidy` ends it). Measured is the time from rank 0's last line to the end of the
launcher as its parent sees it; of a watched run, without the diagnosis, what job.json says. A run that has not ended
DEADLINE_S after its last line never does, and is killed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "trainers"
DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()", "run", "--stall-timeout", "300")
LAUNCH = (
    *(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"),
    *("--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"),
)
DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How one run ended. `after_s` goes from the last line of rank 0; None where it never ended."""

    exit_code: int
    after_s: float | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--tidy", action="store_true")
    options = parser.parse_args()
    runs: dict[str, list[Run]] = {"bare": [], "watched": []}
    with tempfile.TemporaryDirectory() as name:
        script = Path(name, "train.py")
        text = (FOLDER / "accelerate_loop.py").read_text()
        script.write_text(text if options.tidy else text.replace("    accelerator.end_training()\n", ""))
        for pair in range(options.pairs):
            for kind in sorted(runs, reverse=bool(pair % 2)):
                runs[kind].append(run(kind, script, Path(name, f"report-{pair}")))
            print(f"{pair + 1}: {runs['bare'][-1]} {runs['watched'][-1]}", file=sys.stderr, flush=True)
    for kind, all_runs in runs.items():
        print(json.dumps({"kind": kind, **summary(all_runs)}))
    return 0


def run(kind: str, script: Path, report: Path) -> Run:
    """Runs the loop once."""
    argv = (
        (*LAUNCH, str(script)) if kind == "bare" else (*DOCTOR, "--report-dir", str(report), "--", *LAUNCH, str(script))
    )
    environ = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    process = subprocess.Popen(
        argv, env={**environ, "CUDA_VISIBLE_DEVICES": ""}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(b"loss"):
            break
    said = time.time()
    try:
        code = process.wait(DEADLINE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL if kind == "bare" else signal.SIGTERM)
        process.wait()
        return Run(exit_code=process.returncode, after_s=None)
    finally:
        process.stdout.close()
    ended = time.time()
    if kind == "watched":
        job = json.loads((report / "record" / "job.json").read_text())
        ended = job["started_ns"] / 1e9 + job["ended_s"]
    return Run(exit_code=code, after_s=round(ended - said, 2))


def summary(runs: list[Run]) -> dict[str, object]:
    """Returns the figures of all runs of one kind."""
    took = [one.after_s for one in runs if one.after_s is not None]
    codes = sorted({one.exit_code for one in runs})
    return {
        "runs": len(runs),
        "never": len(runs) - len(took),
        "median_s": round(statistics.median(took), 2),
        "longest_s": max(took),
        "over_5_s": sum(one > 5 for one in took),
        "exit_codes": {code: sum(one.exit_code == code for one in runs) for code in codes},
    }


if __name__ == "__main__":
    sys.exit(main())
