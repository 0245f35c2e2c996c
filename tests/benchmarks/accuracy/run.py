"""Equation by model: errors, parameters and cost, every model on the same data for the same CPU seconds.

    python tests/benchmarks/accuracy/run.py [--size small|full] [--only EQUATION]... [--seeds 0 1 2] [--out FILE]

Our models are trained by `ups train --nproc 1`; what that took of the CPU, all its processes together, is what FNO and
U-Net are given (baselines.py), and "operator alone, longer" has as many epochs more as the later stages would have
taken. CPU seconds and not wall time: on a machine that is shared they are what can be compared. FNO needs

    pip install --no-deps neuraloperator==2.0.0 tensorly==0.10.0 tensorly-torch==0.5.0 opt_einsum==3.4.0 \\
        ruamel.yaml zencfg==1.0.0 configmypy requests urllib3 certifi charset-normalizer idna

(its whole tree brings wandb); where it is not there, its rows are left out and the result says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = Path(__file__).with_name("configs")
RESULTS = Path(__file__).with_name("results")
SHOWN = ("nRMSE", "fRMSE_low", "fRMSE_mid", "fRMSE_high")
LATER = ("diffusion", "consistency", "steady")


def main() -> int:
    options = arguments()
    names = options.only or sorted(path.stem for path in (CONFIGS / options.size).glob("*.yaml"))
    found: dict[str, Any] = {"machine": machine(), "size": options.size, "seeds": options.seeds, "rows": []}
    with tempfile.TemporaryDirectory(prefix="ups-accuracy-") as folder:
        for name in names:
            for seed in options.seeds:
                found["rows"] += measure(CONFIGS / options.size / f"{name}.yaml", seed, Path(folder), options.data)
                options.out.parent.mkdir(parents=True, exist_ok=True)
                options.out.write_text(json.dumps(found, indent=1) + "\n")  # after each: a long run may be cut short
    print(table(found["rows"]))
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--only", action="append", help="this equation; may be repeated")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--data", type=Path, help="keep the data files here")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.out = options.out or RESULTS / f"{options.size}.json"
    return options


def machine() -> dict[str, Any]:
    import torch

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "cpu": model,
        "cores": os.cpu_count(),
        "load_at_start": os.getloadavg()[0],
        "torch": torch.__version__,
        "fno": importlib.util.find_spec("neuralop") is not None,
    }


def measure(config: Path, seed: int, folder: Path, data: Path | None) -> list[dict[str, Any]]:
    """Returns the rows of one equation and seed."""
    root = data or folder / "data"
    settings = [f"data.root={root}", f"seed={seed}"]
    ups("data", "generate", "--config", config, *sets(settings))
    run = folder / f"{config.stem}-{seed}"
    began = cpu_seconds()
    ups("train", config, *QUIET, *sets([*settings, f"output.dir={run}"]))
    all_stages = cpu_seconds() - began
    stages = json.loads(subprocess.check_output([sys.executable, "-c", STAGES, str(config)], text=True))
    ours = evaluated(run / "checkpoints" / f"{stages['run'][-1]}.pt")
    spent = seconds_by_stage(run / "metrics.jsonl")
    share = sum(spent.values()) or 1.0
    earlier = sum(value for stage, value in spent.items() if stage not in LATER)
    # The operator alone gets what all stages took: as many epochs more of its own.
    factor = (share - spent.get("autoencoder", 0.0)) / max(spent["operator"], 1e-9)
    longer = folder / f"{config.stem}-{seed}-longer"
    epochs = max(1, round(stages["operator_epochs"] * factor))
    changes = ["stages.run=[autoencoder, operator]", f"stages.operator.epochs={epochs}", f"output.dir={longer}"]
    began = cpu_seconds()
    ups("train", config, *QUIET, *sets([*settings, *changes]))
    alone_s = cpu_seconds() - began
    alone = evaluated(longer / "checkpoints/best.pt")
    rows = [row(config, seed, "operator alone", ours, "model", all_stages * earlier / share)]
    rows += [row(config, seed, "operator alone, longer", alone, "model", alone_s)]
    for stage in (one for one in (*LATER, "diffusion_ensemble") if one in ours["one_step"]):
        rows.append(row(config, seed, stage, ours, stage, all_stages))
    for name in ("persistence", "mean_field", "autoencoder"):
        if name in ours["one_step"]:
            rows.append(row(config, seed, name, ours, name, 0.0))
    for name in ("fno", "unet") if importlib.util.find_spec("neuralop") else ("unet",):
        found = baseline(name, config, settings, all_stages, seed)
        rows.append({"equation": config.stem, "model": name, "seed": seed, **found})
    for path in (run, longer):
        shutil.rmtree(path)
    return rows


QUIET = ("--no-preflight", "--no-doctor", "--quiet", "--nproc", "1")
STAGES = """
import json, sys
from pathlib import Path
from ups.config import load_config
stages = load_config(Path(sys.argv[1])).stages
print(json.dumps({"run": stages.run, "operator_epochs": stages.operator.epochs}))
"""


def row(config: Path, seed: int, name: str, numbers: dict, key: str, cpu_s: float) -> dict[str, Any]:
    stage = "operator" if key == "model" else key.removesuffix("_ensemble")
    rollout = numbers.get("rollout", {}).get(key)
    return {
        "equation": config.stem,
        "model": name,
        "seed": seed,
        "one_step": numbers["one_step"][key],
        **({"rollout": rollout} if rollout else {}),
        "parameters": numbers["parameter_count"].get(stage),
        "train_cpu_s": round(cpu_s, 1),
        "seconds_a_step": numbers["seconds_a_step"].get(stage),
        **({"ensembles": numbers["ensembles"]} if key.endswith("_ensemble") else {}),
        **({"residual": numbers["residual"].get(key)} if "residual" in numbers else {}),
    }


def evaluated(checkpoint: Path) -> dict[str, Any]:
    return json.loads(ups("evaluate", checkpoint, "--json"))


def seconds_by_stage(metrics: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in metrics.read_text().splitlines():
        record = json.loads(line)
        if record["kind"] == "epoch":
            found[record["stage"]] = found.get(record["stage"], 0.0) + record["seconds"]
    return found


def baseline(name: str, config: Path, settings: list[str], cpu_s: float, seed: int) -> dict[str, Any]:
    program = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("baselines.py"))]
    print("+", name, config.stem, f"{cpu_s:.0f} CPU s", file=sys.stderr, flush=True)
    said = subprocess.check_output(
        [*program, name, str(config), json.dumps(settings), str(cpu_s), str(seed)], text=True
    )
    return json.loads(said.splitlines()[-1])


def sets(settings: list[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def ups(*argv: object) -> str:
    command = [sys.executable, "-c", "from ups.cli import main; main()", *map(str, argv)]
    print("+ ups", *map(str, argv), file=sys.stderr, flush=True)
    environ = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environ).stdout


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(rows: list[dict[str, Any]]) -> str:
    heads = ["equation", "model", "one step", "low", "mid", "high", "rollout", "parameters", "train CPU s", "ms a step"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for key in dict.fromkeys((one["equation"], one["model"]) for one in rows):
        mine = [one for one in rows if (one["equation"], one["model"]) == key]
        cells = [*key, *(spread([one["one_step"][name] for one in mine]) for name in SHOWN)]
        cells.append(spread([one["rollout"]["nRMSE"] for one in mine if "rollout" in one]))
        first = mine[0]
        seconds = first.get("seconds_a_step")
        cells += [
            f"{first['parameters']:,}" if first.get("parameters") else "",
            f"{first['train_cpu_s']:.0f}" if first["train_cpu_s"] else "",
            f"{1e3 * seconds:.2f}" if seconds else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def spread(values: list[float | None]) -> str:
    """Returns the mean, and half of the range where there are several seeds."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    half = f" ± {(max(known) - min(known)) / 2:.1e}" if len(known) > 1 else ""
    return f"{statistics.mean(known):.2e}{half}"


if __name__ == "__main__":
    sys.exit(main())
