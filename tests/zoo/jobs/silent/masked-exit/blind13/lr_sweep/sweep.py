"""Trains every width of the grid, one job after the other."""
import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def job(width, steps):
    cmd = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "attn.py",
           "--width", str(width), "--steps", str(steps)]
    subprocess.run(cmd, check=True)
    return width


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--widths", type=int, nargs="+", required=True)
    ap.add_argument("--steps", type=int, default=30)
    args = ap.parse_args()
    with ThreadPoolExecutor(max_workers=1) as pool:
        for width in args.widths:
            pool.submit(job, width, args.steps)
    print(f"sweep over {len(args.widths)} widths finished")


if __name__ == "__main__":
    main()
