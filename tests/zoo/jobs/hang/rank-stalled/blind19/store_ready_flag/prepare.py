import json
import os
import random
from datetime import timedelta

import torch.distributed as dist

WORDS = "the a model rank loss step data graph node edge train test epoch batch".split()


def _build(path):
    rng = random.Random(1)
    texts = [" ".join(rng.choices(WORDS, k=14)) for _ in range(400)]
    with open(path + ".part", "w") as f:
        json.dump({"vocab": sorted(WORDS), "texts": texts}, f)
    os.replace(path + ".part", path)


def prepare_corpus(store, path, rank):
    """Rank 0 tokenizes once; the others start when it says so."""
    if rank == 0:
        if os.path.exists(path):
            print(f"found {path}, nothing to do", flush=True)
            return
        _build(path)
        store.set("corpus_ready", path)
    else:
        store.wait(["corpus_ready"], timedelta(hours=6))


def load_corpus(path):
    with open(path) as f:
        blob = json.load(f)
    index = {w: i for i, w in enumerate(blob["vocab"])}
    return [[index[w] for w in t.split()] for t in blob["texts"]], len(index)
