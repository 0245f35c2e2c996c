"""The task's official scorer: prints a line per item, writes the score."""
import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("--items", type=int, required=True)
parser.add_argument("--out", required=True)
args = parser.parse_args()

hits = 0
for item in range(args.items):
    hit = item % 3 != 0
    hits += hit
    print(f"item {item:06d} reference={item % 7} answer={item % 7 if hit else (item + 1) % 7} "
          f"{'correct' if hit else 'WRONG  '} normalised-edit-distance={0.0 if hit else 0.31:.3f}")
with open(args.out, "w") as file:
    json.dump({"score": hits / args.items}, file)
