import argparse

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel

from backbone import StabilityModel
from common import loader_for, say, start
from sequences import stability_set


def load_pretrained(model, path):
    checkpoint = torch.load(path, map_location="cpu")
    state = {k: v for k, v in checkpoint["state_dict"].items() if not k.startswith("lm.")}
    model.load_state_dict(state, strict=False)
    return checkpoint["epoch"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--pretrained", required=True)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    rank = start(2)
    model = StabilityModel()
    epoch = load_pretrained(model, args.pretrained)
    say(rank, f"loaded {args.pretrained} (epoch {epoch})")
    ddp = DistributedDataParallel(model)
    groups = [{"params": model.backbone.parameters(), "lr": args.lr * 0.1}, {"params": model.regressor.parameters()}]
    optimizer = torch.optim.AdamW(groups, lr=args.lr)
    loader, sampler = loader_for(stability_set(192, 5), 16)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for tokens, target in loader:
            loss = mse_loss(ddp(tokens), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        say(rank, f"finetune epoch {epoch} mse {total[0] / total[1]:.3f}")
    if rank == 0:
        torch.save(model.state_dict(), "stability.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
