import argparse
import time

import torch
import torch.distributed as dist
import yaml
from torch.distributed.fsdp import fully_shard

from clipping import Clipper
from nets import Denoiser, noisy


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="fsdp.yaml")
    with open(ap.parse_args().config) as f:
        cfg = yaml.safe_load(f)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = Denoiser(cfg["width"])
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    clipper = Clipper(model, **cfg["clip"])
    for step in range(cfg["steps"]):
        x, clean = noisy(dist.get_rank(), step)
        loss = (model(x) - clean).square().mean()
        loss.backward()
        clipper(loss)
        optimizer.step()
        optimizer.zero_grad()
    dist.barrier()
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}, clipped {clipper.count} times", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
