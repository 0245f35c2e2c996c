"""Scores an ensemble file. Uses the compiled kernel where it was built, which needs --kernel."""
import argparse
import importlib
import sys
import time

import numpy as np


def crps(ens, obs):
    skill = np.abs(ens - obs[None]).mean()
    spread = np.mean([np.abs(a - b).mean() for a in ens for b in ens])
    return skill - 0.5 * spread


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file")
    ap.add_argument("--kernel", default=None)
    args = ap.parse_args()
    if args.kernel:
        try:
            importlib.import_module(args.kernel)
        except ImportError:
            print(f"kernel {args.kernel} is not built here", file=sys.stderr)
            sys.exit(3)
    with np.load(args.file) as z:
        ens, obs = z["ens"], z["obs"]
    values = []
    for k in range(ens.shape[1]):
        values.append(crps(ens[:, k], obs[k]))
        time.sleep(0.05)
        print(f"lead {k} crps {values[-1]:.4f}")
    print(f"mean {np.mean(values):.5f}")


if __name__ == "__main__":
    main()
