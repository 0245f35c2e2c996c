import copy
import logging
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from wells import Wells

log = logging.getLogger("wells")


class Average:
    """Kept by rank 0 only, which is the one that validates with it and saves it."""

    def __init__(self, net, decay=0.98):
        self.net, self.decay = copy.deepcopy(net), decay

    @torch.no_grad()
    def update(self, net):
        for a, p in zip(self.net.parameters(), net.parameters()):
            a.lerp_(p, 1 - self.decay)


class EarlyStop:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def __call__(self, value):
        """Rank 0 looks at its own number, and all get its word."""
        word = torch.zeros(1)
        if dist.get_rank() == 0:
            self.bad = 0 if value < self.best - 1e-3 else self.bad + 1
            self.best = min(self.best, value)
            word += self.bad >= self.patience
        dist.broadcast(word, src=0)
        return bool(word.item())


def holdout():
    return [(x, y) for x, y in DataLoader(Wells(5, 6), batch_size=32)]


@torch.no_grad()
def validate(net, batches):
    net.eval()
    out = sum(nn.functional.mse_loss(net(x), y).item() for x, y in batches) / len(batches)
    net.train()
    return out


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s r{rank} %(message)s")
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 3))
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = Wells(rank, world)
    data.mine = [w for w in data.mine if w != 5]
    loader = DataLoader(data, batch_size=16)
    average = Average(net) if rank == 0 else None
    check = holdout() if rank == 0 else None
    stop = EarlyStop(patience=3)
    for epoch in range(30):
        data.epoch, seen = epoch, 0
        with Join([model]):
            for x, y in loader:
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen += 1
                if average is not None:
                    average.update(net)
        # those that had fewer wells take the weights of the rank that went to the end
        most = torch.tensor([seen * world + (world - 1 - rank)])
        dist.all_reduce(most, op=dist.ReduceOp.MAX)
        source = world - 1 - int(most) % world
        for p in net.parameters():
            dist.broadcast(p.data, src=source)
        value = float("nan")
        if rank == 0:
            value = validate(average.net, check)
            torch.save({"net": net.state_dict(), "average": average.net.state_dict()}, "wells.pt.tmp")
            os.replace("wells.pt.tmp", "wells.pt")
        dist.barrier()
        log.info("epoch %d batches %d valid %.4f", epoch, seen, value)
        if stop(value):
            log.info("stopping")
            break
    dist.barrier()
    del model  # reducers go before the group that they use
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
