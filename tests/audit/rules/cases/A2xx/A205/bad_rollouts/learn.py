import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Learner:
    def __init__(self, net, actor):
        self.net = DDP(net)
        self.actor = actor
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def step(self, batch):
        values = self.net(batch["seen"])
        loss = (values - batch["return"]).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return (values - batch["before"]).abs().mean().item()

    def learn(self, rounds, limit):
        for _ in range(rounds):
            batch = self.actor.collect()
            for _ in range(4):
                if self.step(batch) > limit:
                    break


def main(net, actor):
    dist.init_process_group("nccl")
    Learner(net, actor).learn(1000, 0.02)
    dist.destroy_process_group()
