import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel


class Plain:
    def __init__(self, model, loader):
        self.net = self.placed(model)
        self.loader = loader
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def placed(self, model):
        return model.cuda()

    def step(self, x, y):
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def fit(self, path):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            self.step(x, y).backward()
            self.optimizer.step()
        self.keep(path)

    def keep(self, path):
        if dist.get_rank() == 0:
            torch.save(self.net.state_dict(), path)
        dist.barrier()


class Sharded(Plain):
    def placed(self, model):
        return FullyShardedDataParallel(model.cuda())

    def keep(self, path):
        weights = self.net.state_dict()
        if dist.get_rank() == 0:
            torch.save(weights, path)
        dist.barrier()


def main(model, loader, path):
    dist.init_process_group("nccl")
    cls = Sharded if dist.get_world_size() > 1 else Plain
    trainer = cls(model, loader)
    trainer.fit(path)


if __name__ == "__main__":
    main(torch.nn.Linear(4, 4), torch.load("batches.pt"), "model.pt")
