"""For how long training stands still for a checkpoint, written beside it and at once, against the step it interrupts.

    python tests/benchmarks/recovery/checkpoint_stall.py [--ranks 2] [--hidden 64] [--saves 12]

JSON on stdout. The first two saves of a stage agree on who writes what, and are left out: "once warm".
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parent.parent.parent
sys.path[:0] = [str(TESTS.parent), str(TESTS / "ups"), str(TESTS)]

from small_run import write_config, write_data  # noqa: E402

from ups.config import load_config  # noqa: E402
from ups.launch import run  # noqa: E402
from ups.launch.elastic import launch  # noqa: E402

WARM = 2
STEPS_BETWEEN = 40  # so that one is written before the next begins


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--saves", type=int, default=12)
    options = parser.parse_args()
    rows = {name: measured(options, beside) for name, beside in (("beside", True), ("at once", False))}
    print(json.dumps({"ranks": options.ranks, "hidden": options.hidden, **rows}, indent=1))


def measured(options: argparse.Namespace, beside: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="ups-stall-") as place:
        folder = Path(place)
        write_data(folder, samples=40, frames=20)
        stage = {"epochs": 1000, "batch_size": 16 * options.ranks, "max_steps": STEPS_BETWEEN * options.saves + 1}
        config = write_config(
            folder, stages={"autoencoder": stage}, latent={"dim": 32, "hidden_dim": options.hidden, "depth": 2},
            training={"checkpoint_every_steps": STEPS_BETWEEN, "checkpoint": {"asynchronous": beside}},
        )  # fmt: skip
        request = run.Request(config=load_config(config), path=config, overrides=(), stages=("autoencoder",))
        run.prepare(request, options.ranks)
        launched = launch(run.rank_argv(request), options.ranks)
        assert launched.completed
        result = launched.reports[0].result
    stalls, timing = result["checkpoints"]["stall_s"][WARM:-2], result["stages"]["autoencoder"]
    step, stall = timing["later_step_s"] / timing["later_steps"], statistics.median(stalls)
    return {
        "step_ms": round(step * 1e3, 3), "stall_ms": round(stall * 1e3, 3), "share_of_a_step": round(stall / step, 4),
        "share_of_all_time": round(stall / (step * STEPS_BETWEEN), 5), "saves": len(stalls),
        "left_out": result["checkpoints"]["left_out"],
    }  # fmt: skip


if __name__ == "__main__":
    main()
