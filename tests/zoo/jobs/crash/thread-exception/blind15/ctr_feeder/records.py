import json
import os
import random

FIELDS = ("user", "item", "slot", "hour")


def write_shards(folder, shards=6, rows=900, seed=8):
    rng = random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    for s in range(shards):
        path = os.path.join(folder, f"part-{s:03d}.jsonl")
        if os.path.exists(path):
            continue
        with open(path + ".tmp", "w") as f:
            for r in range(rows):
                row = {"user": rng.randrange(500), "item": rng.randrange(200), "slot": rng.randrange(8), "hour": rng.randrange(24)}
                row["click"] = int((row["user"] * 3 + row["item"]) % 5 == 0)
                if s == 3 and r >= 700:
                    row["ts"] = row.pop("hour")
                f.write(json.dumps(row) + "\n")
        os.rename(path + ".tmp", path)


def parse(line):
    row = json.loads(line)
    return [row[name] for name in FIELDS], row["click"]
