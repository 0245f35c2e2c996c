import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class ContrastiveTrainer:
    def __init__(self, encoder, dataset, local_rank, lr=1e-3, tau=0.1, backend="nccl", batch_size=256):
        dist.init_process_group(backend=backend)  # cause
        self.device = torch.device("cuda", local_rank)
        self.rank = dist.get_rank()
        self.tau = tau
        self.model = DDP(encoder.to(self.device), device_ids=[local_rank])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.sampler = DistributedSampler(dataset, drop_last=True)
        self.loader = DataLoader(dataset, batch_size, sampler=self.sampler, drop_last=True)

    def augment(self, x):
        keep = (torch.rand_like(x) > 0.2).float()
        return x * keep

    def loss(self, x):
        z = F.normalize(self.model(torch.cat([self.augment(x), self.augment(x)])), dim=-1)
        n = len(x)
        sim = z @ z.t() / self.tau
        sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=x.device), float("-inf"))
        target = torch.arange(2 * n, device=x.device).roll(n)
        return F.cross_entropy(sim, target)

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for (x,) in self.loader:
                loss = self.loss(x.to(self.device))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            if self.rank == 0:
                print(f"epoch {epoch} nt-xent {loss.item():.4f}")
