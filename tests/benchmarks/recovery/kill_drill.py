"""kill -9 of a rank, its launcher or `ups train` in each phase of a training: how long until nothing is left of it.

    python tests/benchmarks/recovery/kill_drill.py [--watched | --torchrun] [--workers 2] [--phase checkpoint]

A table on stderr, JSON on stdout; exits with 1 where a job took more than 10 s, or left anything.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parent.parent.parent
sys.path[:0] = [str(TESTS.parent), str(TESTS / "ups/checkpoints"), str(TESTS / "ups"), str(TESTS)]

from killed_in_phase import PHASES, VICTIMS, Drilled, drill, row  # noqa: E402

MOST_S = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watched", action="store_true", help="inside the doctor, as `ups train` runs by default")
    parser.add_argument("--torchrun", action="store_true", help="ranks that the user's torchrun has started")
    parser.add_argument("--workers", type=int, default=0, help="loader workers of each rank")
    parser.add_argument("--phase", choices=PHASES, action="append")
    options = parser.parse_args()
    results = []
    print(f"{'phase':12} {'victim':9} {'gone after':>10} {'code':>5}  left", file=sys.stderr)
    for phase in options.phase or PHASES:
        for victim in VICTIMS[:-1] if options.torchrun else VICTIMS:  # torchrun is launcher and command
            with tempfile.TemporaryDirectory(prefix="ups-kill-drill-") as folder:
                done = drill(Path(folder), phase, victim, watched=options.watched, by_torchrun=options.torchrun,
                             workers=options.workers)  # fmt: skip
            results.append(done)
            print(f"{phase:12} {victim:9} {done.seconds:8.2f} s {done.exit_code:5}  {left(done)}", file=sys.stderr)
    bad = [one for one in results if left(one) != "nothing" or one.seconds > MOST_S]
    print(json.dumps({"watched": options.watched, "torchrun": options.torchrun, "workers": options.workers,
                      "worst_s": max(one.seconds for one in results), "bad": len(bad),
                      "rows": [row(one) for one in results]}, indent=1))  # fmt: skip
    sys.exit(1 if bad else 0)


def left(one: Drilled) -> str:
    found = [*one.left_in_temporary, *one.left_in_shm, *([f"{one.left_running} processes"] if one.left_running else [])]
    return ", ".join(found) or "nothing"


if __name__ == "__main__":
    main()
