import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from twotower.losses import in_batch_softmax


class TwoTower(nn.Module):
    def __init__(self, n_users, n_items, dim=64):
        super().__init__()
        self.users = nn.EmbeddingBag(n_users, dim)
        self.items = nn.Embedding(n_items, dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, history, offsets, item):
        return self.proj(self.users(history, offsets)), self.items(item)


class Engine:
    def __init__(self, cfg, interactions):
        self.cfg = cfg
        self.local = int(os.environ.get("LOCAL_RANK", 0))
        self.device = torch.device("cuda", self.local)
        torch.cuda.set_device(self.device)
        self.sampler = DistributedSampler(interactions, shuffle=True, drop_last=True)
        self.loader = DataLoader(
            interactions,
            batch_size=cfg["batch"],
            sampler=self.sampler,
            collate_fn=interactions.collate,
            num_workers=cfg["workers"],
            drop_last=True,
        )
        net = TwoTower(cfg["n_users"], cfg["n_items"]).to(self.device)
        self.model = DDP(net, device_ids=[self.local])
        self.opt = torch.optim.Adagrad(self.model.parameters(), lr=cfg["lr"])

    def _clicked(self, batch):
        return (batch["dwell_ms"] >= self.cfg["min_dwell_ms"]).float().to(self.device)

    def train_one_epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        seen, t0 = 0, time.time()
        for batch in self.loader:
            user, item = self.model(
                batch["history"].to(self.device),
                batch["offsets"].to(self.device),
                batch["item"].to(self.device),
            )
            loss = in_batch_softmax(user, item, self._clicked(batch))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            seen += item.size(0)
        return seen / (time.time() - t0)

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            rate = self.train_one_epoch(epoch)
            if dist.get_rank() == 0:
                print(f"epoch {epoch}: {rate:.0f} rows/s")
                torch.save(self.model.module.state_dict(), self.cfg["out"])
            dist.barrier()


def launch(cfg, interactions):
    dist.init_process_group(backend="nccl")
    try:
        Engine(cfg, interactions).fit()
    finally:
        dist.destroy_process_group()
