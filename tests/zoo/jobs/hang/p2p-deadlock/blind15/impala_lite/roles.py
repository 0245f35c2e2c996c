import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from envs import Corridor

log = logging.getLogger("impala")
UNROLL = 20


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 3))


class Actor:
    def __init__(self, rank, learner, budget):
        self.env, self.net = Corridor(seed=rank), network()
        self.learner, self.budget, self.episodes = learner, budget, 0
        self.obs = self.env.reset()

    def _pull(self):
        flat = parameters_to_vector(self.net.parameters()).detach()
        dist.recv(flat, self.learner)
        vector_to_parameters(flat, self.net.parameters())

    @torch.no_grad()
    def _unroll(self):
        rows = torch.zeros(UNROLL, 12)
        for t in range(UNROLL):
            action = torch.distributions.Categorical(logits=self.net(self.obs)[:2]).sample()
            rows[t, :9], rows[t, 9] = self.obs, action
            self.obs, rows[t, 10], done = self.env.step(int(action))
            rows[t, 11] = float(done)
            self.episodes += int(done)
        return rows

    def run(self):
        while self.episodes < self.budget:
            self._pull()
            dist.send(self._unroll(), self.learner)
        log.info("actor done after %d episodes", self.episodes)


class Learner:
    def __init__(self, actors, updates, gamma=0.95):
        self.net, self.actors, self.updates, self.gamma = network(), actors, updates, gamma
        self.opt = torch.optim.Adam(self.net.parameters(), 5e-3)

    def _collect(self):
        flat = parameters_to_vector(self.net.parameters()).detach()
        for actor in self.actors:
            dist.send(flat, actor)
        batch = torch.zeros(len(self.actors), UNROLL, 12)
        for slot, actor in enumerate(self.actors):
            dist.recv(batch[slot], actor)
        return batch

    def _update(self, batch):
        out = self.net(batch[..., :9])
        value, returns = out[..., 2], torch.zeros(batch.shape[:2])
        tail = value[:, -1].detach()
        for t in reversed(range(UNROLL)):
            tail = batch[:, t, 10] + self.gamma * tail * (1 - batch[:, t, 11])
            returns[:, t] = tail
        logp = torch.log_softmax(out[..., :2], -1).gather(-1, batch[..., 9:10].long()).squeeze(-1)
        loss = -(logp * (returns - value.detach())).mean() + 0.5 * (returns - value).square().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return batch[..., 10].sum().item()

    def run(self):
        for n in range(self.updates):
            reward = self._update(self._collect())
            if n % 25 == 0:
                log.info("update %d reward %.1f", n, reward)
