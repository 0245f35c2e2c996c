import torch
import torch.distributed as dist
from torch import nn

STOP = -1


class Learner:
    def __init__(self, actors, rounds):
        self.net = nn.Linear(6, 2)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.actors, self.rounds = actors, rounds

    def push(self, to, tag):
        dist.send(torch.tensor([tag]), to)
        if tag != STOP:
            dist.send(nn.utils.parameters_to_vector(self.net.parameters()).detach(), to)

    def run(self):
        for n in range(self.rounds):
            for a in self.actors:
                self.push(a, n)
            obs = []
            for _ in self.actors:
                size = torch.zeros(1, dtype=torch.long)
                src = dist.recv(size)
                batch = torch.zeros(int(size), 6)
                dist.recv(batch, src)
                obs.append(batch)
            x = torch.cat(obs)
            loss = nn.functional.cross_entropy(self.net(x), (x[:, 0] > x[:, 1]).long())
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        for a in self.actors:
            self.push(a, STOP)
        print("learner ends, loss", round(loss.item(), 4))


class Actor:
    def __init__(self, rank):
        self.net, self.gen = nn.Linear(6, 2), torch.Generator().manual_seed(rank)

    def run(self):
        rounds = 0
        while True:
            tag = torch.zeros(1, dtype=torch.long)
            dist.recv(tag, 0)
            if tag.item() == STOP:
                break
            vec = nn.utils.parameters_to_vector(self.net.parameters()).detach()
            dist.recv(vec, 0)
            nn.utils.vector_to_parameters(vec, self.net.parameters())
            n = int(torch.randint(3, 12, (1,), generator=self.gen))
            dist.send(torch.tensor([n]), 0)
            dist.send(torch.randn(n, 6, generator=self.gen), 0)
            rounds += 1
        print("actor ends after", rounds)
