"""A short run of tests/benchmarks/record_fuzz.py on the record of one small job; by hand it runs as long as asked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "benchmarks" / "record_fuzz.py"
JOB = """
import os, subprocess, sys, threading, time

if "RANK" in os.environ:
    print("step", os.environ["RANK"], flush=True)
    threading.Thread(target=time.sleep, args=(0.1,), name="beside").start()
    if os.environ["RANK"] == "1":
        raise RuntimeError("sizes differ: 3 and 4")
    time.sleep(0.2)
    sys.exit(0)
ranks = [
    subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": rank, "WORLD_SIZE": "2"}) for rank in "01"
]
sys.exit(max(abs(rank.wait()) for rank in ranks))
"""
FLIGHT = {
    "version": "2.10",
    "entries": [
        {"collective_seq_id": 3, "profiling_name": "gloo:all_reduce", "state": "scheduled", "retired": False,
         "process_group": ["0", "default_pg"], "input_sizes": [[4]], "input_dtypes": ["Float"],
         "frames": [{"filename": "train.py", "line": 8, "name": "loop"}]},
    ],
}  # fmt: skip
WHERE = [{"file": "train.py", "line": 8, "function": "loop"}]
FRAMES = {"threads": [{"ident": 1, "name": "MainThread", "native": 7, "main": True, "frames": WHERE}]}
SAMPLE = {
    "pid": 7, "start_ticks": 5, "at_s": 1.0, "state": "S", "waits_in": "futex_do_wait", "syscall": "futex",
    "cpu_s": 0.1, "bytes_moved": 4, "major_faults": 0, "swapped_bytes": 0, "open_file": "", "stack": WHERE,
}  # fmt: skip


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the record of a job of two ranks, one of which raised."""
    folder = tmp_path_factory.mktemp("fuzzed")
    (folder / "train.py").write_text(JOB)
    doctor = [sys.executable, "-c", "from diagnostics.cli import main; main()", "run", "--report-dir", "report", "--"]
    done = subprocess.run(
        [*doctor, sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, timeout=90, check=False
    )
    assert "python-exception on rank 1" in done.stderr
    record = folder / "seeds" / "two_ranks"
    shutil.copytree(folder / "report" / "record", record)
    stem = next((record / "agents").glob("agent-*.bin")).stem.removeprefix("agent-")
    (record / "agents" / f"flight-{stem}.json").write_text(json.dumps(FLIGHT))
    (record / "agents" / f"frames-{stem}.json").write_text(json.dumps(FRAMES))
    (record / "captures" / "samples.jsonl").write_text(json.dumps(SAMPLE) + "\n")
    return folder / "seeds"


def test_a_record_made_wrong_on_purpose_raises_nothing_hangs_nowhere_and_breaks_no_page(
    seeds: Path, tmp_path: Path
) -> None:
    options = ["--seeds", seeds, "--inputs", 30, "--minutes", 0.2, "--folder", tmp_path, "--failures", tmp_path / "bad"]
    done = subprocess.run(
        [sys.executable, FUZZ, *map(str, options)], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["failures"], told["inputs"] > 0) == (0, True)
    assert "python-exception" in told["outcomes"]


def test_the_fuzz_notices_a_page_that_breaks(seeds: Path, tmp_path: Path) -> None:
    """Its failing twin: a section that writes what the job said as it is."""
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "import diagnostics.report.run_sections.surroundings as one; one.code = lambda text: '<b>' + text\n"
        "import record_fuzz; sys.exit(record_fuzz.main())"
    )
    options = ["--seeds", seeds, "--inputs", 1, "--minutes", 0.2, "--folder", tmp_path, "--failures", tmp_path / "bad"]
    done = subprocess.run(
        [sys.executable, "-c", code, str(FUZZ.parent), *map(str, options)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("two_ranks, unchanged: on the page: line")
