"""Validation, data check, dry run, training. Under torchrun each rank runs the stages by itself."""
import argparse
import os
import subprocess
import sys
from pathlib import Path

import yaml


def run_step(name, argv):
    print(f"[fast-to-sota] {name}", flush=True)
    done = subprocess.run(argv)
    if done.returncode:
        raise SystemExit(done.returncode)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train-config", default="configs/train.yaml")
    parser.add_argument("--tags", default="")
    args = parser.parse_args()
    cfg = yaml.safe_load(Path(args.train_config).read_text())
    missing = [stage for stage in ("operator", "diffusion", "consistency") if stage not in cfg]
    if missing:
        raise SystemExit(f"{args.train_config} lacks {missing}")
    train = [sys.executable, "scripts/train.py", "--config", args.train_config]
    if "RANK" not in os.environ:
        train = ["torchrun", "--standalone", "--nproc_per_node=2", *train[1:]]
    run_step("train", train)


if __name__ == "__main__":
    main()
