"""Reviews made of topic words; a stand-in for the dump of the shop, read line by line."""
import random
from pathlib import Path

GOOD = ["great", "lovely", "sturdy", "quick", "quiet", "comfortable", "bright", "reliable", "neat", "charming"]
BAD = ["broken", "slow", "noisy", "flimsy", "late", "dull", "leaky", "rough", "dented", "sticky"]
THINGS = [f"item{i}" for i in range(400)]


def write_dump(path: Path, reviews: int, seed: int) -> None:
    rng = random.Random(seed)
    with path.open("w") as out:
        for _ in range(reviews):
            label = rng.randint(0, 1)
            words = [rng.choice(GOOD if label else BAD) for _ in range(rng.randint(2, 5))]
            words += [rng.choice(THINGS) for _ in range(rng.randint(3, 8))]
            rng.shuffle(words)
            out.write(f"{label}\t{' '.join(words)}\n")


def read_dump(path: Path, start: int = 0, step: int = 1) -> list[tuple[int, list[str]]]:
    rows = []
    with path.open() as lines:
        for number, line in enumerate(lines):
            if number % step != start:
                continue
            label, text = line.rstrip("\n").split("\t")
            rows.append((int(label), text.split()))
    return rows
