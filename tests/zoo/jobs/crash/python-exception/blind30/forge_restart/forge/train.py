import argparse
import json
import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh

from forge.manager import CheckpointManager
from forge.model import build_model

logger = logging.getLogger("forge")


def batch(task, generator, n=16, length=16, vocab=32):
    ids = torch.randint(vocab, (n, length), generator=generator)
    return ids, ids.flip(1) if task == "reverse" else ids


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", required=True)
    args = p.parse_args()
    with open(args.config) as f:
        cfg = json.load(f)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    torch.set_num_threads(1)
    mesh = init_device_mesh("cpu", (world,))
    model = build_model(cfg, mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 5))
    manager = CheckpointManager(cfg["dir"], model, scheduler, cfg["load_path"])
    step, tokens = manager.load()
    gen = torch.Generator().manual_seed(1 + rank + 1000 * step)

    while step < cfg["steps"]:
        ids, target = batch(cfg["task"], gen)
        loss = F.cross_entropy(model(ids).flatten(0, 1), target.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        step += 1
        tokens += ids.numel() * world
        if step % 5 == 0:
            mean = loss.detach()
            dist.all_reduce(mean)
            logger.info("step %d loss %.4f tokens %d", step, mean.item() / world, tokens)
        if step % cfg["save_every"] == 0:
            manager.save(step, tokens)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
