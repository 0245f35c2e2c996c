import argparse
import json
import pathlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from vit import PatchTransformer


def bars(n, g):
    label = torch.randint(4, (n,), generator=g)
    image = 0.3 * torch.randn(n, 1, 16, 16, generator=g)
    for i, c in enumerate(label.tolist()):
        at = int(torch.randint(2, 14, (1,), generator=g))
        if c < 2:
            image[i, 0, at, ::c + 1] += 1
        else:
            image[i, 0, ::c - 1, at] += 1
    return image, label


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", type=pathlib.Path, required=True)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    args = ap.parse_args()
    config = json.loads(args.config.read_text())
    lr = config.pop("lr")
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(PatchTransformer(**config))
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    g = torch.Generator().manual_seed(dist.get_rank())
    for _ in range(40):
        image, label = bars(32, g)
        loss = torch.nn.functional.cross_entropy(model(image), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), args.out / f"{args.config.stem}.pt")
        print(f"{args.config.stem}: loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
