import torch
import torch.distributed as dist
import torch.distributed.optim as sharded


class Checkpoints:
    def __init__(self, **parts):
        self.parts = parts

    def write(self, path):
        torch.save({name: part.state_dict() for name, part in self.parts.items()}, path)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optim = sharded.ZeroRedundancyOptimizer(net.parameters(), torch.optim.AdamW)
        self.checkpoints = Checkpoints(net=net, optim=self.optim)

    def fit(self, batches):
        for x in batches:
            self.net(x).mean().backward()
            self.optim.step()
            self.optim.zero_grad()
        self.checkpoints.write("last.pt")


if __name__ == "__main__":
    dist.init_process_group("nccl")
    Trainer(torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))).fit(torch.load("data.pt"))
