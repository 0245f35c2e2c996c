import argparse
import json
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .data import ConceptPairs
from .loss import ContrastiveLoss
from .model import DualEncoder


def param_groups(model, weight_decay):
    decay = [p for p in model.parameters() if p.ndim >= 2]
    rest = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]


@torch.no_grad()
def retrieval(model, dataset):
    model.eval()
    image, tokens, concept = zip(*(dataset[i] for i in range(256)))
    sim = model.encode_image(torch.stack(image)) @ model.encode_text(torch.stack(tokens)).t()
    concept = torch.stack(concept)
    hit = concept[sim.argmax(1)] == concept
    model.train()
    return hit.float().mean().item()


def worker(rank, cfg, port, out):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=cfg["world_size"])
    torch.set_num_threads(1)
    torch.manual_seed(cfg["seed"])
    net = DistributedDataParallel(DualEncoder(cfg["embed_dim"]))
    criterion = ContrastiveLoss()
    opt = torch.optim.AdamW(param_groups(net, cfg["weight_decay"]), lr=cfg["lr"], betas=(0.9, 0.98))
    train = ConceptPairs(cfg["pairs"], cfg["concepts"], "train")
    val = ConceptPairs(512, cfg["concepts"], "val")
    sampler = DistributedSampler(train, cfg["world_size"], rank, shuffle=True)
    loader = DataLoader(train, cfg["batch_size"], sampler=sampler, drop_last=True)
    total = len(loader) * cfg["epochs"]
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min(1.0, (s + 1) / cfg["warmup_steps"]) * max(0.02, 1 - s / total))

    best = 0.0
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        running, seen = torch.zeros(2), 0
        for image, tokens, _ in loader:
            out_dict = criterion(*net(image, tokens))
            opt.zero_grad(set_to_none=True)
            out_dict["loss"].backward()
            opt.step()
            sched.step()
            running += torch.stack([out_dict["loss"].detach(), out_dict["acc"]])
            seen += 1
        running /= seen
        dist.all_reduce(running)
        running /= cfg["world_size"]
        score = retrieval(net.module, val)
        if rank == 0:
            print(f"epoch {epoch}: loss {running[0]:.3f} acc {running[1]:.3f} retrieval {score:.3f}", flush=True)
            if score > best:
                best = score
                torch.save(net.module.state_dict(), os.path.join(out, "best.pt"))
        dist.barrier()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("config")
    cfg = json.load(open(p.parse_args().config))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as out:
        mp.spawn(worker, args=(cfg, port, out), nprocs=cfg["world_size"])
    print("finished")


if __name__ == "__main__":
    main()
