"""Loops nobody here wrote, bare and watched: the same loss, the same exit code, no alarm.

    python tests/benchmarks/other_trainers.py [--python PATH] [--times N]

Lightning, Accelerate, the Transformers Trainer and torch's own distributed tests, two ranks on gloo. Without --python
it makes an environment below ~/.cache that adds them to the torch of this one (some 250 MB are downloaded).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import site
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "trainers"
CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
NEEDED = ("lightning", "accelerate", "transformers", "expecttest")
DOCTOR = "from diagnostics.cli import main; main()"
DEADLINE_S = 600.0
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
TORCH_TESTS = (
    "test_all_reduce_sum", "test_barrier", "test_broadcast", "test_send_recv", "test_DistributedDataParallelCPU",
    "test_all_gather_object_default_pg", "test_DistributedSampler_padding",
)  # fmt: skip
PROGRAMS = {
    "lightning ddp": ("lightning_loop.py",),
    "accelerate launch": (
        # --cpu would start one process whatever --num_processes says; the loop itself asks for the CPU.
        *("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"),
        *("--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0", "accelerate_loop.py"),
    ),
    "accelerate, torchrun": (*TORCHRUN, "accelerate_loop.py"),
    "transformers, torchrun": (*TORCHRUN, "transformers_loop.py"),
    "torch's own tests": ("torch_own_tests.py", *TORCH_TESTS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How one run went."""

    exit_code: int
    loss: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="an interpreter that has torch and the trainers")
    parser.add_argument("--times", type=int, default=1)
    arguments = parser.parse_args()
    python = str((arguments.python or environment()).absolute())
    bad = 0
    print(f"{'program':<24} {'bare':<24} {'watched':<24} verdict")
    for name, words in PROGRAMS.items():
        for _ in range(arguments.times):
            bare, (watched, verdict) = run((python, *words)), run_watched((python, *words))
            right = bare == watched and verdict == "ok, none, 0 errors"
            bad += not right
            print(f"{name:<24} {shown(bare):<24} {shown(watched):<24} {verdict}{'' if right else '   <-- differs'}")
    return bool(bad)


def environment() -> Path:
    """Makes, once, an environment that sees this one's packages and adds the trainers; returns its Python."""
    folder = Path.home() / ".cache" / "ups-doctor" / "other-trainers"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        packages = next((folder / "lib").glob("python3*")) / "site-packages"
        (packages / "parent.pth").write_text("\n".join(site.getsitepackages()) + "\n")
        subprocess.run([python, "-m", "pip", "install", "-q", "-c", CONSTRAINTS, *NEEDED], check=True)
        (folder / "ready").touch()
    return python


def run(argv: tuple[str, ...]) -> Run:
    """Runs one program by itself."""
    done = subprocess.run(
        argv, cwd=FOLDER, env=variables(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S
    )
    found = re.findall(r"^loss (\S+)", done.stdout, re.MULTILINE)
    return Run(exit_code=done.returncode, loss=" ".join(found))


def run_watched(argv: tuple[str, ...]) -> tuple[Run, str]:
    """Runs one program under the doctor; returns its verdict too."""
    with tempfile.TemporaryDirectory() as folder:
        doctor = (sys.executable, "-c", DOCTOR, "run", "--report-dir", f"{folder}/report", "--", *argv)
        watched = run(doctor)
        report = json.loads(Path(folder, "report", "report.json").read_text())
    errors = [finding["title"] for finding in report["findings"] if finding["severity"] == "error"]
    return watched, f"{report['outcome']}, {report['failure_class']}, {len(errors)} errors {errors or ''}".strip()


def variables() -> dict[str, str]:
    """Returns the environment of both kinds of run."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}


def shown(run: Run) -> str:
    """Returns "exit 0, loss 0.123"."""
    return f"exit {run.exit_code}, loss {run.loss or '-'}"


if __name__ == "__main__":
    sys.exit(main())
