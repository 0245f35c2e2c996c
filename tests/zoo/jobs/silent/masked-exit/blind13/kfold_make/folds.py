import argparse
import csv
import os
import random

ap = argparse.ArgumentParser()
ap.add_argument("--out", required=True)
ap.add_argument("--folds", type=int, default=3)
args = ap.parse_args()
rnd = random.Random(4)
for k in range(args.folds):
    with open(os.path.join(args.out, f"fold{k}.csv"), "w", newline="") as f:
        w = csv.writer(f)
        for i in range(800):
            row = [round(rnd.gauss(0, 1), 4) for _ in range(8)]
            y = int(sum(row[:3]) > 0)
            w.writerow(row + ["n/a" if (k, i) == (1, 613) else y])
