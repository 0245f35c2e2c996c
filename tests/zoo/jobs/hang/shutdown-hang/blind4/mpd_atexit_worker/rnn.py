"""Trains over sequences whose order comes from a dataset process on the first rank."""
import signal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from multi_proc_dataset import MultiProcDataset


class Interrupts:
    """Ctrl-C is answered by the first rank's prompt, not by a half-written model."""

    def __init__(self):
        self.previous = None

    def hold(self):
        self.previous = signal.signal(signal.SIGINT, signal.SIG_IGN)

    def release(self):
        signal.signal(signal.SIGINT, self.previous)


class Tagger(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.rnn = nn.GRU(8, width, batch_first=True)
        self.out = nn.Linear(width, 5)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


class Engine:
    def __init__(self, rank, world, num_seqs=24):
        self.rank, self.world = rank, world
        self.interrupts = Interrupts()
        self.model = DistributedDataParallel(Tagger())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)
        self.interrupts.hold()
        self.dataset = MultiProcDataset(num_seqs, seed=5) if rank == 0 else None
        self.data = torch.randn(num_seqs, 6, 8, generator=torch.Generator().manual_seed(1))
        self.interrupts.release()

    def seq_order(self, epoch):
        order = [self.dataset.init_seq_order(epoch) if self.rank == 0 else None]
        dist.broadcast_object_list(order)
        return order[0][self.rank::self.world]

    def train_epoch(self, epoch):
        loss = None
        for start in self.seq_order(epoch)[::3]:
            x = self.data[start][None]
            loss = self.model(x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(2)
    engine = Engine(rank, world)
    for epoch in range(1, 4):
        score = engine.train_epoch(epoch)
        if rank == 0:
            print(f"epoch {epoch} score {score:.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        print("elapsed, all epochs done", flush=True)


if __name__ == "__main__":
    main()
