import os
import subprocess
import sys
from pathlib import Path

import yaml

PYTHON = sys.executable


def train_cmd(config):
    cfg = yaml.safe_load(Path(config).read_text())
    if "RANK" in os.environ:
        return [PYTHON, "scripts/train.py", "--config", config]
    num_gpus = cfg.get("training", {}).get("num_gpus", 1)
    if num_gpus > 1:
        return [
            "torchrun",
            f"--nproc_per_node={num_gpus}",
            "--nnodes=1",
            "--node_rank=0",
            "--master_addr=localhost",
            "--master_port=29500",
            "scripts/train.py",
            "--config",
            config,
        ]
    return [PYTHON, "scripts/train.py", "--config", config]


def main():
    env = dict(os.environ)
    env.setdefault("OMP_NUM_THREADS", "8")
    res = subprocess.run(train_cmd(sys.argv[1]), env=env)
    return res.returncode


if __name__ == "__main__":
    sys.exit(main())
