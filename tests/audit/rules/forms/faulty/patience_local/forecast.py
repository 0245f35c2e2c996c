import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from stopping import EarlyStopper


class LSTMForecaster(nn.Module):
    def __init__(self, n_in, hidden, horizon):
        super().__init__()
        self.rnn = nn.LSTM(n_in, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, horizon)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1])


def loaders(path, bs):
    blob = torch.load(path, map_location="cpu")
    out = []
    for part in ("train", "val"):
        ds = TensorDataset(blob[f"{part}_x"], blob[f"{part}_y"])
        sampler = DistributedSampler(ds, shuffle=part == "train")
        out.append(DataLoader(ds, batch_size=bs, sampler=sampler))
    return out


@torch.no_grad()
def validation_loss(model, loader, device):
    model.eval()
    acc = torch.zeros(2, device=device)
    for x, y in loader:
        err = (model.module(x.to(device)) - y.to(device)).pow(2)
        acc += torch.stack([err.sum(), torch.tensor(float(err.numel()), device=device)])
    model.train()
    return (acc[0] / acc[1]).item()  # cause


def train(args):
    rank = dist.get_rank()
    device = torch.device(f"cuda:{os.environ['LOCAL_RANK']}")
    model = DDP(LSTMForecaster(args.features, 256, args.horizon).to(device), device_ids=[device])
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    tr, va = loaders(args.data, args.bs)
    stopper = EarlyStopper(args.patience)
    for epoch in range(args.max_epochs):
        tr.sampler.set_epoch(epoch)
        for x, y in tr:
            opt.zero_grad()
            nn.functional.mse_loss(model(x.to(device)), y.to(device)).backward()
            opt.step()
        vloss = validation_loss(model, va, device)  # cause
        if rank == 0:
            print(f"epoch {epoch} val {vloss:.5f}")
        if stopper.update(vloss):  # cause
            break  # cause
    if rank == 0:
        torch.save(model.module.state_dict(), args.out)
    dist.barrier()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", default="forecaster.pt")
    ap.add_argument("--features", type=int, default=12)
    ap.add_argument("--horizon", type=int, default=24)
    ap.add_argument("--bs", type=int, default=128)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--patience", type=int, default=6)
    ap.add_argument("--max-epochs", type=int, default=300)
    ns = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    train(ns)
    dist.destroy_process_group()
