import copy

import torch
from torch import nn


class Agent:
    def __init__(self, obs, actions, lr):
        self.q = nn.Sequential(nn.Linear(obs, 64), nn.ReLU(), nn.Linear(64, actions))
        self.target_q = copy.deepcopy(self.q)
        self.target_q.eval()
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.steps = 0

    def update(self, s, a, r, s2, done, gamma=0.99):
        with torch.no_grad():
            target = r + gamma * (1 - done) * self.target_q(s2).max(1).values
        q = self.q(s).gather(1, a[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.steps % 100 == 0:
            self.target_q.load_state_dict(self.q.state_dict())


def main():
    agent = Agent(4, 2, 1e-3)
    for _ in range(1000):
        agent.update(torch.randn(32, 4), torch.randint(2, (32,)), torch.randn(32), torch.randn(32, 4), torch.zeros(32))


if __name__ == "__main__":
    main()
