import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from data_module import DemandDataModule


class EncDec(nn.Module):
    def __init__(self, horizon, hidden=32):
        super().__init__()
        self.horizon = horizon
        self.month = nn.Embedding(12, 4)
        self.encoder = nn.GRU(5, hidden, batch_first=True)
        self.decoder = nn.GRU(4, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        m = self.month(x["month"])
        past, future = m[:, :-self.horizon], m[:, -self.horizon:]
        _, h = self.encoder(torch.cat([x["target_past"].unsqueeze(-1), past], -1))
        y, _ = self.decoder(future, h)
        return self.out(y).squeeze(-1)

    def predict(self, x):
        center, scale = x["target_scale"].unbind(-1)
        return self(x) * scale[:, None] + center[:, None]


def validate(model, loader):
    model.eval()
    s = torch.zeros(2)
    with torch.no_grad():
        for x, y in loader:
            s += torch.tensor([nn.functional.l1_loss(model(x), y, reduction="sum").item(), float(y.numel())])
    dist.all_reduce(s)
    model.train()
    return (s[0] / s[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--normalizer", default="encoder", choices=["encoder", "global"])
    p.add_argument("--series", type=int, default=60)
    p.add_argument("--encoder", type=int, default=24)
    p.add_argument("--horizon", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=8)
    cfg = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(7)
    torch.set_num_threads(1)

    dm = DemandDataModule(cfg, rank, world)
    dm.setup()
    train, val = dm.train_dataloader(), dm.val_dataloader()
    model = DistributedDataParallel(EncDec(cfg.horizon))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2)
    for epoch in range(cfg.epochs):
        dm.sampler.set_epoch(epoch)
        total = 0.0
        for x, y in train:
            loss = nn.functional.smooth_l1_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        mae = validate(model.module, val)
        plateau.step(mae)
        if rank == 0:
            print(f"epoch {epoch} train_loss {total / len(train):.4f} val_mae {mae:.4f} lr {opt.param_groups[0]['lr']:.1e}",
                  flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), "encdec.pt")
        x, y = next(iter(val))
        print("forecast", [round(v, 2) for v in model.module.predict(x)[0].tolist()], flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
