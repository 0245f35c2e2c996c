import glob
import os
import random


def write_corpus(folder, files=7, seed=4):
    rng = random.Random(seed)
    for n in range(files):
        with open(os.path.join(folder, f"shard-{n:03d}.txt"), "w") as f:
            for _ in range(40):
                f.write(" ".join(str(rng.randrange(100)) for _ in range(8)) + "\n")


def shards(folder, rank, world):
    return sorted(glob.glob(os.path.join(folder, "shard-*.txt")))[rank::world]
