import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class QNetwork(nn.Module):
    def __init__(self, obs, actions, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value, self.advantage = nn.Linear(hidden, 1), nn.Linear(hidden, actions)

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class DQN:
    def __init__(self, obs, actions, lr, gamma, tau):
        self.online = QNetwork(obs, actions)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.gamma, self.tau, self.actions = gamma, tau, actions

    @torch.no_grad()
    def act(self, state, epsilon):
        if torch.rand(()) < epsilon:
            return int(torch.randint(0, self.actions, ()))
        return int(self.online(torch.from_numpy(state)[None]).argmax(1))

    def train_on(self, batch):
        q = self.online(batch.state).gather(1, batch.action)
        with torch.no_grad():
            best = self.online(batch.next_state).argmax(1, keepdim=True)
            next_q = self.target(batch.next_state).gather(1, best)
            expected = batch.reward + self.gamma * next_q
        loss = F.smooth_l1_loss(q, expected)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        with torch.no_grad():
            for t, p in zip(self.target.parameters(), self.online.parameters()):
                t.lerp_(p, self.tau)
        return loss.item(), q.mean().item()
