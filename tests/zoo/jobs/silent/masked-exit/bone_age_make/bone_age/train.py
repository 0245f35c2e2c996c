import argparse
import json
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from bone_age.net import AgeNet, scan


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(AgeNet())
    optimizer = torch.optim.Adam(model.parameters())
    for start in range(0, 160, 4 * world):
        image, sex, age = map(torch.stack, zip(*[scan(i) for i in range(start + rank, start + 4 * world, world)]))
        loss = (model(image, sex) - age).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        with open(os.path.join(args.out, "result.json"), "w") as f:
            json.dump({"mae": loss.item()}, f)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
