"""Click logs as TSV shards, one set of shards a rank."""
import os
import random

NUM_DENSE, NUM_SPARSE = 4, 6


def write_day(root, shards=4, rows=1200, seed=0):
    """A synthetic day of logs; empty fields occur as in the real ones."""
    os.makedirs(root, exist_ok=True)
    rng = random.Random(seed)
    for s in range(shards):
        with open(os.path.join(root, f"part-{s:03d}.tsv"), "w") as f:
            for i in range(rows):
                dense = [str(int(rng.expovariate(0.1))) if rng.random() > 0.1 else "" for _ in range(NUM_DENSE)]
                sparse = [format(rng.randrange(1 << 20), "08x") if rng.random() > 0.05 else "" for _ in range(NUM_SPARSE)]
                if s == 3 and i == 777:
                    sparse[2] = "(null)"
                label = int(rng.random() < 0.25)
                f.write("\t".join([str(label), *dense, *sparse]) + "\n")


def parse_line(line, buckets):
    fields = line.rstrip("\n").split("\t")
    label = int(fields[0])
    dense = [float(v) if v else 0.0 for v in fields[1 : 1 + NUM_DENSE]]
    sparse = [int(v, 16) % (buckets - 1) + 1 if v else 0 for v in fields[1 + NUM_DENSE :]]
    return label, dense, sparse


def read_shards(root, rank, world_size):
    parts = sorted(p for p in os.listdir(root) if p.endswith(".tsv"))
    for part in parts[rank::world_size]:
        with open(os.path.join(root, part)) as f:
            yield from f
