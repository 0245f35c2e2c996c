import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from corpus import WORDS, Intents
from guard import StepScope, phase


class Net(nn.Module):
    def __init__(self, dim=64, classes=8):
        super().__init__()
        self.emb = nn.Embedding(len(WORDS), dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        _, h = self.rnn(self.emb(ids))
        return self.head(h[0])


class Trainer:
    def __init__(self, rank, world):
        self.rank, self.world, self.stats = rank, world, {}
        torch.manual_seed(0)
        self.net = DDP(Net())
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        data = Intents()
        self.sampler = DistributedSampler(data, world, rank, seed=3)
        self.loader = DataLoader(data, batch_size=32, sampler=self.sampler)

    def step(self, ids, label):
        self.opt.zero_grad()
        loss = F.cross_entropy(self.net(ids), label)
        loss.backward()
        self.opt.step()
        return loss.item()

    def epoch(self, number):
        self.sampler.set_epoch(number)
        last = float("nan")
        for ids, label in self.loader:
            with StepScope(self.stats):
                last = self.step(ids, label)
        return last

    def fit(self, epochs):
        for number in range(epochs):
            with phase(f"epoch {number}", self.rank):
                last = self.epoch(number)
            dist.barrier()
            if self.rank == 0:
                print(f"epoch {number} loss {last:.3f}", flush=True)
