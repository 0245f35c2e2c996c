import json
import os
import random

import torch.distributed as dist

from bpe import BPE


def corpus(n, seed):
    rng = random.Random(seed)
    syll = ["ka", "ro", "mi", "tel", "san", "vor", "qui", "en", "dra", "lo", "pex", "um"]
    return ["".join(rng.choice(syll) for _ in range(rng.randint(3, 9))) for _ in range(n)]


def tokenizer(path, n_words, merges):
    if dist.get_rank() == 0 and not os.path.exists(path):
        model = BPE(merges).learn(corpus(n_words, 0))
        with open(path, "w") as f:
            json.dump(model.merges, f)
    dist.barrier()
    with open(path) as f:
        return json.load(f)
