"""Real records for the fuzz of records: programs of the zoo that crash, hang, lie and end well, under `ups-doctor run`.

python tests/benchmarks/record_seeds.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "zoo")]

from zoo_runs import run_watched  # noqa: E402 - found by the line above
from zoo_truth import lacking, load  # noqa: E402

JOBS = ("demand_prefetch", "demand_regions", "mismatch_tail_batch", "hang_queue_get", "hang_port_off", "flow_plain")


def write_seeds(folder: Path) -> Path:
    """Runs each program and leaves its record as FOLDER/NAME/; what this machine cannot run is left out."""
    for name in JOBS:
        truth = load(name)
        if lacking(truth):
            continue
        kept = folder / f".{name}"
        run_watched(truth, kept)
        (kept / "report" / "record").rename(folder / name)
    return folder


if __name__ == "__main__":
    write_seeds(Path(sys.argv[1]))
