"""validate -> train -> evaluate, one command."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import yaml

PYTHON = sys.executable


def run_step(name, cmd, env=None):
    print(f"[{name}]", " ".join(map(str, cmd)), flush=True)
    subprocess.run([str(c) for c in cmd], env=env, check=True)


def train_command(cfg, config_path):
    cmd = [PYTHON, "scripts/train.py", "--config", config_path, "--stage", "all"]
    n = cfg.get("training", {}).get("num_gpus", 1)
    if "RANK" not in os.environ and n > 1:
        cmd = ["torchrun", "--standalone", f"--nproc_per_node={n}", *cmd[1:]]
    return cmd


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train-config", required=True)
    parser.add_argument("--skip-full-eval", action="store_true")
    args = parser.parse_args()
    cfg = yaml.safe_load(Path(args.train_config).read_text())
    try:
        run_step("validate-config", [PYTHON, "scripts/validate_config.py", args.train_config])
        run_step("train", train_command(cfg, args.train_config))
        if not args.skip_full_eval:
            run_step("eval", [PYTHON, "scripts/evaluate.py", "--config", args.train_config])
    finally:
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
