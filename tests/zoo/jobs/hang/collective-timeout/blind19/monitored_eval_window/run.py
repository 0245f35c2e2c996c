import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from hooks import LogHook, RetrievalEvalHook, SyncHook

CFG = dict(epochs=6, batch=32, lr=0.05, eval_interval=2, sync_seconds=4)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 128))

    def forward(self, x):
        return nn.functional.normalize(self.body(x), dim=-1)


class Runner:
    def __init__(self, model, loader, hooks):
        self.rank = dist.get_rank()
        self.model = DDP(model)
        self.loader, self.hooks = loader, hooks
        self.opt = torch.optim.SGD(self.model.parameters(), lr=CFG["lr"], momentum=0.9)
        self.last_loss = 0.0

    def run(self):
        for epoch in range(CFG["epochs"]):
            self.loader.sampler.set_epoch(epoch)
            for a, b in self.loader:
                za, zb = self.model(torch.cat([a, b])).chunk(2)
                logits = za @ zb.t() / 0.1
                loss = nn.functional.cross_entropy(logits, torch.arange(len(a)))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.last_loss = loss.item()
            for hook in self.hooks:
                hook.after_epoch(self, epoch)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(1)
    base = torch.randn(2200, 256, generator=g)
    pairs = TensorDataset(base + 0.3 * torch.randn(2200, 256, generator=g), base + 0.3 * torch.randn(2200, 256, generator=g))
    train = torch.utils.data.Subset(pairs, range(1280))
    gallery = torch.stack(list(pairs.tensors), dim=1).flatten(0, 1)
    loader = DataLoader(train, CFG["batch"], sampler=DistributedSampler(train))
    hooks = [LogHook(), RetrievalEvalHook(gallery, CFG["eval_interval"]), SyncHook(CFG["sync_seconds"])]
    Runner(Embedder(), loader, hooks).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
