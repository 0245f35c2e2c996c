import argparse
import json
import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from stage1.images import Blobs
from stage1.rae import RAE, Discriminator


def create_logger(rank):
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.ERROR, format="[%(asctime)s] %(message)s")
    return logging.getLogger("stage1")


@torch.no_grad()
def reconstruction_error(model, loader):
    model.eval()
    t = torch.zeros(2)
    for x in loader:
        t += torch.tensor([F.mse_loss(model(x), x, reduction="sum").item(), float(x.numel())])
    dist.all_reduce(t)
    model.train()
    return (t[0] / t[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="configs/tiny.json")
    p.add_argument("--ckpt", default="rae.pt")
    args = p.parse_args()
    cfg = json.load(open(args.config))
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(cfg["seed"] * world + rank)
    logger = create_logger(rank)

    model = DDP(RAE(cfg["latent"], cfg["hidden"]))
    disc = DDP(Discriminator())
    model_woddp = model.module
    opt = torch.optim.AdamW([q for q in model.parameters() if q.requires_grad], lr=cfg["lr"], betas=(0.9, 0.95))
    opt_d = torch.optim.AdamW(disc.parameters(), lr=cfg["lr"], betas=(0.5, 0.9))

    train_set, val_set = Blobs(cfg["images"], 1), Blobs(240, 2)
    sampler = DistributedSampler(train_set, world, rank, shuffle=True, seed=cfg["seed"])
    loader = DataLoader(train_set, cfg["batch_size"], sampler=sampler, drop_last=True)
    val = DataLoader(val_set, 60, sampler=DistributedSampler(val_set, world, rank, shuffle=False))
    logger.info("%d images, %d steps an epoch", len(train_set), len(loader))

    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        adversarial = epoch >= cfg["disc_start"]
        run_rec = run_d = 0.0
        for x in loader:
            with torch.no_grad():
                z = model_woddp.encode(x, noise=0.1)
            recon = model_woddp.decode(z)
            rec_loss = F.l1_loss(recon, x) + F.mse_loss(recon, x)
            loss = rec_loss
            if adversarial:
                disc.requires_grad_(False)
                loss = loss - cfg["disc_weight"] * disc.module(recon).mean()
                disc.requires_grad_(True)
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if adversarial:
                logits = disc(torch.cat([x, recon.detach()]))
                real, fake = logits.chunk(2)
                d_loss = F.relu(1 - real).mean() + F.relu(1 + fake).mean()
                opt_d.zero_grad()
                d_loss.backward()
                opt_d.step()
                run_d += d_loss.item()
            run_rec += rec_loss.item()
        err = reconstruction_error(model_woddp, val)
        logger.info("epoch %d rec %.4f disc %.4f val mse %.5f", epoch, run_rec / len(loader), run_d / len(loader), err)
    if rank == 0:
        torch.save({"model": model_woddp.state_dict(), "disc": disc.module.state_dict()}, args.ckpt)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
