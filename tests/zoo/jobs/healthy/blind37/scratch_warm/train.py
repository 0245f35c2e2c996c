import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)


def depth_maps(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(25, 6, generator=torch.Generator().manual_seed(40)) / 5
    x = torch.randn(n, 25, generator=g)
    return TensorDataset(x, torch.sin(2 * x @ w) + 0.05 * torch.randn(n, 6, generator=g))


class DepthNet(nn.Module):
    def __init__(self, outputs=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(25, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.head = nn.Linear(64, outputs)

    def forward(self, x):
        return self.head(self.body(x))


def write_pretrained(path):
    torch.manual_seed(3)
    torch.save(DepthNet(outputs=2).state_dict(), path)


def load_body(model, path):
    state = {k: v for k, v in torch.load(path).items() if not k.startswith("head.")}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) == {"head.weight", "head.bias"}, (missing, unexpected)


def param_groups(model, lr):
    return [{"params": model.module.body.parameters(), "lr": 0.5 * lr}, {"params": model.module.head.parameters(), "lr": lr}]


def save(path, model, opt, epoch):
    if dist.get_rank() == 0:
        torch.save({"model": model.module.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, path + ".tmp")
        os.replace(path + ".tmp", path)
    dist.barrier()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch-size", type=int, default=25)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder)
    torch.manual_seed(50 + rank)
    model = DepthNet()
    if rank == 0:
        path = os.path.join(folder[0], "pretrained.pt")
        write_pretrained(path)
        load_body(model, path)
    model = DDP(model)
    opt = torch.optim.Adam(param_groups(model, args.lr))
    data = depth_maps(2000, 0)
    sampler = DistributedSampler(data, shuffle=True, seed=9)
    loader = DataLoader(data, args.batch_size, sampler=sampler)
    last = os.path.join(folder[0], "last.pt")
    for epoch in range(args.epochs):
        if epoch == args.epochs // 2:
            state = torch.load(last)
            model.module.load_state_dict(state["model"])
            opt.load_state_dict(state["opt"])
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach() / len(loader)
        dist.all_reduce(total)
        save(last, model, opt, epoch)
        if rank == 0:
            print(f"epoch {epoch} mse {total.item() / dist.get_world_size():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
