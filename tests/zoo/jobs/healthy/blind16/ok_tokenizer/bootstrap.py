import datetime
import json
import os
import random

import torch.distributed as dist

from bpe import Bpe, learn_merges


def words(seed, n):
    r = random.Random(seed)
    roots = ["".join(r.choice("abcdefghij") for _ in range(4)) for _ in range(60)]
    return ["".join(r.choices(roots, k=r.randint(1, 4))) for _ in range(n)]


def tokenizer(path, merges, store, rank):
    """The first rank learns the merges, the others wait on the store for its word."""
    if rank == 0:
        if not os.path.exists(path):
            m = learn_merges(words(0, 12000), merges)
            with open(path + ".tmp", "w") as f:
                json.dump(m, f)
            os.replace(path + ".tmp", path)
        store.set("tokenizer/ready", path)
    else:
        store.wait(["tokenizer/ready"], datetime.timedelta(seconds=300))
        path = store.get("tokenizer/ready").decode()
    return Bpe.load(path)
