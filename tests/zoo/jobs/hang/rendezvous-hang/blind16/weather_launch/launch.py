import argparse
import os
import subprocess
import sys


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--train", type=int, default=2)
    ap.add_argument("--eval", type=int, default=1)
    ap.add_argument("--no-eval", action="store_true")
    args = ap.parse_args()
    world = args.train + args.eval
    roles = ["train"] * args.train + ([] if args.no_eval else ["eval"] * args.eval)
    procs = []
    for rank, role in enumerate(roles):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT="29641", ROLE=role)
        procs.append(subprocess.Popen([sys.executable, "nowcast.py"], env=env))
    codes = [p.wait() for p in procs]
    sys.exit(max(abs(c) for c in codes))


if __name__ == "__main__":
    main()
