import subprocess
import sys

import yaml


def main():
    config = sys.argv[1]
    with open(config) as f:
        num_gpus = yaml.safe_load(f)["training"]["num_gpus"]
    cmd = ["torchrun", "--standalone", f"--nproc_per_node={num_gpus}", "scripts/train.py", "--config", config]
    res = subprocess.run(cmd)
    sys.exit(res.returncode)


if __name__ == "__main__":
    main()
