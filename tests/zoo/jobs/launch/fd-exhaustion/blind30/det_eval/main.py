import argparse
import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from boxes import Squares
from engine import Detector, evaluate, train_one_epoch


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="config.json")
    p.add_argument("--eval-only", action="store_true")
    args = p.parse_args()
    with open(args.config) as f:
        cfg = json.load(f)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(cfg["seed"])
    net = Detector(grid=cfg["grid"])
    model = DDP(net)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])

    train_set = Squares(cfg["train"]["size"], seed=1)
    sampler = DistributedSampler(train_set, seed=cfg["seed"])
    train_loader = DataLoader(train_set, cfg["train"]["batch_size"], sampler=sampler,
                              num_workers=cfg["train"]["num_workers"], drop_last=True)
    eval_loader = DataLoader(Squares(cfg["eval"]["size"], seed=2), cfg["eval"]["batch_size"],
                             num_workers=cfg["eval"]["num_workers"])

    for epoch in range(0 if args.eval_only else cfg["epochs"]):
        sampler.set_epoch(epoch)
        train_one_epoch(model, train_loader, optimizer, epoch, rank)
        result = [None]
        if rank == 0:
            result = [evaluate(net, eval_loader, cfg["eval"]["thresholds"])]
        dist.broadcast_object_list(result, src=0)
        if rank == 0:
            print(f"Epoch: [{epoch}] " + " ".join(f"{k} {v:.3f}" for k, v in result[0].items()), flush=True)
            torch.save({"model": net.state_dict(), "epoch": epoch, "result": result[0]}, "checkpoint.pth")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
