"""Thirty real trainings on two ranks, each of which has to end with exit code 0.

    python tests/benchmarks/clean_ends.py [--runs 30]

In torch 2.13 a gloo run that is all right aborts at interpreter exit in 10 to 20 % of runs, unless its process group
and the threads of that are gone by then. What a rank imports late, and when, is part of how its interpreter ends: so
the real command, each time. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "ups"), str(TESTS)]

from small_run import ups, write_config, write_data  # noqa: E402


def main() -> int:
    """Runs them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    wrong = []
    with tempfile.TemporaryDirectory(prefix="clean-ends-") as name:
        folder = Path(name)
        write_data(folder, samples=6, frames=2)
        config = write_config(folder)
        for number in range(runs):
            done = ups("train", config, "--no-preflight", "--set", f"output.dir={folder}/run-{number}")
            if done.returncode or "completed: 2 ranks" not in done.stdout:
                wrong.append({"run": number, "exit_code": done.returncode, "stderr": done.stderr[-2000:]})
    print(json.dumps({"runs": runs, "wrong": wrong}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
