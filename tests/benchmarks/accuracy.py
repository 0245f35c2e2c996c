"""Accuracy of every configuration in configs/: generate -> train -> evaluate through the real command line.

    python tests/benchmarks/accuracy.py [--only NAME]... [--real-data DIR] [--quick] [--out DIR]

One-step and rollout nRMSE on the test split, beside what needs no training. Real data (`*_real`) is taken
from DIR, a folder with burgers_train_16.pt and darcy_train_16.pt; without it those rows are left out.
--quick takes few samples and two epochs: it shows that everything runs, its numbers mean nothing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = {
    path.stem: path for path in [ROOT / "configs/quickstart.yaml", *sorted((ROOT / "configs/train").glob("*.yaml"))]
}
REAL = {
    "burgers1d_real": ("burgers_train_16.pt", "burgers1d", "0.031416"),
    "darcy2d_real": ("darcy_train_16.pt", "darcy2d", "1.0"),
}  # file, task, parameter
QUICK = ("data.generate.samples=24", "data.max_samples=24", "stages.autoencoder.epochs=2", "stages.operator.epochs=2")


def main() -> int:
    options = arguments()
    names = options.only or [name for name in CONFIGS if name not in REAL or options.real_data]
    options.out.mkdir(parents=True, exist_ok=True)
    results = {name: measure(name, options) for name in names}
    (options.out / "accuracy.json").write_text(json.dumps(results, indent=2) + "\n")
    table = markdown(results)
    (options.out / "accuracy.md").write_text(table)
    print(table)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=CONFIGS, help="this configuration; may be repeated")
    parser.add_argument("--real-data", type=Path, help="folder of burgers_train_16.pt and darcy_train_16.pt")
    parser.add_argument("--quick", action="store_true", help="show that it runs; the numbers mean nothing")
    parser.add_argument("--out", type=Path, default=Path("reports/benchmarks/accuracy"))
    options = parser.parse_args()
    if options.real_data is None and any(name in REAL for name in options.only or ()):
        parser.error("a configuration named *_real needs --real-data DIR")
    return options


def measure(name: str, options: argparse.Namespace) -> dict:
    """Returns seconds of training and the content of evaluation.json."""
    data, run = options.out / ("data-real" if name in REAL else "data"), options.out / name
    if run.exists():
        shutil.rmtree(run)  # an earlier run of this benchmark
    changes = [f"data.root={data}", f"output.dir={run}", *(QUICK if options.quick else ())]
    settings = [part for change in changes for part in ("--set", change)]
    if name in REAL:
        file, task, parameter = REAL[name]
        source, made = str(options.real_data / file), ("--root", str(data), "--parameter", parameter, "--overwrite")
        ups("data", "convert", source, "--task", task, *made)
    else:
        ups("data", "generate", "--config", str(CONFIGS[name]), *settings)
    started = time.monotonic()
    ups("train", str(CONFIGS[name]), "--no-preflight", *settings)
    seconds = time.monotonic() - started
    ups("evaluate", str(run / "checkpoints/best.pt"))
    return {"train_s": round(seconds, 1), **json.loads((run / "evaluation.json").read_text())}


def ups(*argv: str) -> None:
    command = [str(Path(sys.executable).with_name("ups")), *argv]
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=sys.stderr)


def markdown(results: dict) -> str:
    lines = [
        "| configuration | cells | test samples | training | reconstruction | one step | without training |"
        " rollout | persistence |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in results.items():
        step = found["one_step"]
        rollout = found.get("rollout")
        plain = step.get("persistence") or step["mean_field"]
        cells = [
            name,
            " x ".join(map(str, found["grid"])),
            str(found["samples"]),
            f"{found['train_s']:.0f} s",
            f"{step['autoencoder']['nRMSE']:.2e}",
            f"{step['model']['nRMSE']:.2e}",
            f"{plain['nRMSE']:.2e} ({'persistence' if rollout else 'mean field'})",
            f"{rollout['model']['nRMSE']:.2e} ({rollout['steps']} steps)" if rollout else "",
            f"{rollout['persistence']['nRMSE']:.2e}" if rollout else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
