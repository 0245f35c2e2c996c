"""Writes clicks-0.jsonl and clicks-1.jsonl."""
import json
import random

for part in range(2):
    rng = random.Random(part)
    with open(f"clicks-{part}.jsonl", "w") as out:
        for i in range(128):
            row = {"hour": rng.random(), "device": rng.randrange(3), "slot": rng.randrange(5), "price": rng.random()}
            row["click"] = int(row["price"] > 0.5)
            if part == 1 and i == 100:
                row["price"] = "n/a"
            out.write(json.dumps(row) + "\n")
