import time

import torch
import torch.distributed as dist
from torch.distributions import Categorical
from torch.nn.utils import parameters_to_vector, vector_to_parameters

HEADER, TRANSITION = 2, 8


def policy():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 24), torch.nn.Tanh(), torch.nn.Linear(24, 2))


class Actor:
    def __init__(self, rank):
        self.rank, self.net = rank, policy()
        self.gen = torch.Generator().manual_seed(rank)

    def episode(self):
        rows = []
        state = torch.randn(4, generator=self.gen)
        length = int(torch.randint(3, 12 * self.rank, (), generator=self.gen))
        for _ in range(length):
            with torch.no_grad():
                action = int(torch.multinomial(self.net(state).softmax(-1), 1, generator=self.gen))
            reward = 1.0 if (state[0] > 0) == bool(action) else 0.0
            rows.append(torch.cat([state, torch.tensor([float(action), reward, 0.0, 0.0])]))
            state = 0.8 * state + 0.5 * torch.randn(4, generator=self.gen)
        return torch.stack(rows)

    def run(self, rounds):
        for number in range(rounds):
            weights = parameters_to_vector(self.net.parameters()).detach()
            dist.broadcast(weights, src=0)
            vector_to_parameters(weights, self.net.parameters())
            for _ in range(self.rank):
                rows = self.episode()
                time.sleep(0.05 * self.rank)
                dist.send(torch.tensor([len(rows), 1]), dst=0)
                dist.send(rows, dst=0)
            dist.send(torch.tensor([0, 0]), dst=0)


class Learner:
    def __init__(self):
        self.net = policy()
        self.optim = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def collect(self):
        rows = []
        for source in range(1, dist.get_world_size()):
            while True:
                header = torch.zeros(HEADER, dtype=torch.long)
                dist.recv(header, src=source)
                if not header[1]:
                    break
                block = torch.empty(int(header[0]), TRANSITION)
                dist.recv(block, src=source)
                rows.append(block)
        return torch.cat(rows)

    def run(self, rounds):
        for number in range(rounds):
            dist.broadcast(parameters_to_vector(self.net.parameters()).detach(), src=0)
            rows = self.collect()
            state, action, reward = rows[:, :4], rows[:, 4].long(), rows[:, 5]
            loss = -(Categorical(logits=self.net(state)).log_prob(action) * (reward - reward.mean())).mean()
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            if number % 5 == 0:
                print(f"round {number} transitions {len(rows)} reward {reward.mean():.3f}", flush=True)
