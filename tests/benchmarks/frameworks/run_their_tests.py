"""Runs test files of frameworks with and without the doctor: the doctor must change no exit code and accuse nobody.

    python tests/benchmarks/frameworks/run_their_tests.py CHECKOUTS --python PYTHON [--only TEXT]... [--keep FOLDER]

CHECKOUTS holds one checkout a repository, under its name (git clone https://github.com/huggingface/accelerate ...);
PYTHON has torch, pytest and what these need. Tests that fail without the doctor may fail with it, in equal numbers;
where none passes, what they need is missing, and nothing is shown.
Prints a line a file as it is known, and at last one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

DEADLINE_S = 420
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|error|errors)\b")


@dataclass(frozen=True)
class Suite:
    """One test file of a repository; `source` is what goes on PYTHONPATH, below the checkout."""

    repository: str
    file: str
    source: str = "."
    only: str = ""  # pytest's -k: what of a long file is run

    @property
    def name(self) -> str:
        """Repository and file."""
        return f"{self.repository}/{self.file}"


# Files that start processes, groups, loader workers or trainings on a CPU.
SUITES = (
    Suite("accelerate", "tests/test_optimizer.py", "src"),
    Suite("accelerate", "tests/test_cpu.py", "src"),
    Suite("accelerate", "tests/test_grad_sync.py", "src"),
    Suite("accelerate", "tests/test_data_loader.py", "src"),
    Suite("accelerate", "tests/test_scheduler.py", "src"),
    Suite("lightning", "tests/tests_fabric/strategies/test_ddp_integration.py", "src:tests"),
    Suite("lightning", "tests/tests_fabric/strategies/launchers/test_multiprocessing_integration.py", "src:tests"),
    Suite("lightning", "tests/tests_fabric/utilities/test_distributed.py", "src:tests"),
    Suite("lightning", "tests/tests_pytorch/callbacks/test_finetuning_callback.py", "src:tests"),
    Suite("lightning", "tests/tests_pytorch/loops/test_double_iter_in_iterable_dataset.py", "src:tests"),
    Suite("ignite", "tests/ignite/distributed/utils/test_serial.py", only="not gpu"),
    Suite("ignite", "tests/ignite/distributed/utils/test_native.py", only="gloo and spawn"),
    Suite("torchmetrics", "tests/unittests/bases/test_ddp.py", "src:tests"),
    Suite("mmengine", "tests/test_dataset/test_sampler.py"),
    Suite("mmengine", "tests/test_hooks/test_ema_hook.py"),
    Suite("mmengine", "tests/test_dist/test_utils.py"),
    Suite("fairscale", "tests/nn/pipe/test_worker.py"),
    Suite("fairscale", "tests/nn/checkpoint/test_checkpoint_activations.py"),
    Suite("tnt", "tests/utils/test_distributed.py", only="not gpu"),
    Suite("tnt", "tests/framework/test_fit.py"),
    Suite("tnt", "tests/framework/callbacks/test_periodic_distributed_sync.py"),
    Suite("timm", "tests/test_scheduler.py"),
)


@dataclass(frozen=True)
class Ran:
    """How pytest ended; `counts` of its last line, `seconds` of the wall."""

    code: int
    counts: dict[str, int]
    seconds: float


def run(command: list[str], suite: Suite, checkouts: Path) -> Ran:
    """Runs a command in the suite's checkout."""
    folder = checkouts / suite.repository
    path = os.pathsep.join(str(folder / part) for part in suite.source.split(":"))
    environ = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        try:
            code = process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            code = 124
        output.seek(0)
        said = output.read()
    ends = [line for line in said.splitlines() if COUNTS.search(line) and " in " in line]
    counts = {
        kind.rstrip("s") if kind == "errors" else kind: int(number)
        for number, kind in COUNTS.findall("".join(ends[-1:]))
    }
    return Ran(code, counts, round(time.monotonic() - began, 1))


def main() -> int:
    """Runs each suite bare and watched, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    keep = options.keep or Path(tempfile.mkdtemp(prefix="framework-tests-"))
    doctor = [sys.executable, "-P", "-c", "from diagnostics.cli import main; main()", "run"]
    rows = []
    for suite in SUITES:
        if options.only and not any(text in suite.name for text in options.only):
            continue
        if not (options.checkouts / suite.repository / suite.file).exists():
            print(f"absent     {suite.name}", flush=True)
            continue
        pytest = [options.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", suite.file]
        pytest += ["-k", suite.only] if suite.only else []
        bare = run(pytest, suite, options.checkouts)
        report = keep / suite.name.replace("/", "-").removesuffix(".py")
        watched = run([*doctor, "--report-dir", str(report), "--", *pytest], suite, options.checkouts)
        path = report / "report.json"
        told = json.loads(path.read_text()) if path.exists() else {"outcome": "no report"}
        # The code 1 of a suite with failures is the suite's: nothing more may be said of it than that it failed.
        same = (bare.code, bare.counts) == (watched.code, watched.counts)
        accused = told["outcome"] not in ("ok", "crash") or (told["outcome"] == "crash" and bare.code == 0)
        word = (
            "ACCUSED" if accused else "DIFFERS" if not same else "as before" if "passed" in bare.counts else "not run"
        )
        rows.append({"suite": suite.name, "word": word, "bare": asdict(bare), "watched": asdict(watched),
                     "outcome": told["outcome"], "class": told.get("failure_class")})  # fmt: skip
        print(f"{word:10} {suite.name}  bare {bare.code} {bare.counts} {bare.seconds} s  "
              f"watched {watched.code} {watched.counts} {watched.seconds} s {told['outcome']}", flush=True)  # fmt: skip
    print(json.dumps({"reports": str(keep), "rows": rows}, indent=1))
    return 0 if all(row["word"] in ("as before", "not run") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
