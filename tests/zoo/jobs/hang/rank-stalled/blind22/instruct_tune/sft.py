import json
import os
import random
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from tune.corpus import VOCAB, load
from tune.model import TinyGPT


def write_raw(path, n=400):
    rng = random.Random(6)
    words = "sum list sort the of colour river name give three facts about short long".split()
    with open(path, "w") as f:
        for _ in range(n):
            record = {k: " ".join(rng.choices(words, k=rng.randint(3, 20))) for k in ("prompt", "answer")}
            f.write(json.dumps(record) + "\n")


def main(rank, world, folder):
    dist.init_process_group("gloo", f"file://{folder}/group", rank=rank, world_size=world,
                            timeout=timedelta(hours=1))
    torch.manual_seed(0)
    ids = load(os.path.join(folder, "instructions.jsonl"))
    sampler = DistributedSampler(ids, num_replicas=world, rank=rank)
    loader = DataLoader(ids, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(TinyGPT(VOCAB))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = model(batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write_raw(os.path.join(folder, "instructions.jsonl"))
        mp.spawn(main, args=(3, folder), nprocs=3)
