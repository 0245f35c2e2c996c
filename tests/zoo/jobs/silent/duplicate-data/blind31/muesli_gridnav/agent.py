import collections
import random

import torch
from torch import nn
import torch.nn.functional as F


class PolicyValue(nn.Module):
    def __init__(self, obs_dim, n_actions, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.pi = nn.Linear(width, n_actions)
        self.v = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.v(h).squeeze(-1)


class Agent:
    def __init__(self, obs_dim, n_actions, capacity, gamma, lr):
        self.net = PolicyValue(obs_dim, n_actions)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.gamma = gamma
        self.state_replay = collections.deque(maxlen=capacity)
        self.action_replay = collections.deque(maxlen=capacity)
        self.logp_replay = collections.deque(maxlen=capacity)
        self.return_replay = collections.deque(maxlen=capacity)
        self.state_traj, self.action_traj, self.logp_traj, self.r_traj = [], [], [], []
        self.return_traj = []

    @torch.no_grad()
    def act(self, obs, greedy=False):
        logits, _ = self.net(torch.from_numpy(obs))
        if greedy:
            return int(logits.argmax()), 0.0
        dist = torch.distributions.Categorical(logits=logits)
        a = dist.sample()
        return int(a), float(dist.log_prob(a))

    @torch.no_grad()
    def self_play(self, env):
        for traj in (self.state_traj, self.action_traj, self.logp_traj, self.r_traj, self.return_traj):
            traj.clear()
        obs, over = env.reset(), False
        while not over:
            a, logp = self.act(obs)
            nxt, r, reached, cut = env.step(a)
            self.state_traj.append(torch.from_numpy(obs))
            self.action_traj.append(a)
            self.logp_traj.append(logp)
            self.r_traj.append(r)
            obs, over = nxt, reached or cut
        tail = 0.0 if reached else float(self.net(torch.from_numpy(obs))[1])
        for r in reversed(self.r_traj):
            tail = r + self.gamma * tail
            self.return_traj.insert(0, tail)
        self.state_replay.append(self.state_traj)
        self.action_replay.append(self.action_traj)
        self.logp_replay.append(self.logp_traj)
        self.return_replay.append(self.return_traj)
        return sum(self.r_traj), len(self.r_traj)

    def sample(self, episodes):
        picks = random.sample(range(len(self.state_replay)), min(episodes, len(self.state_replay)))
        s = torch.stack([x for i in picks for x in self.state_replay[i]])
        a = torch.tensor([x for i in picks for x in self.action_replay[i]])
        lp = torch.tensor([x for i in picks for x in self.logp_replay[i]])
        g = torch.tensor([x for i in picks for x in self.return_replay[i]])
        return s, a, lp, g

    def update(self, episodes, clip=0.2, ent=0.01):
        s, a, old, g = self.sample(episodes)
        logits, v = self.net(s)
        dist = torch.distributions.Categorical(logits=logits)
        adv = g - v.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        ratio = (dist.log_prob(a) - old).exp()
        pg = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        loss = pg + 0.5 * F.mse_loss(v, g) - ent * dist.entropy().mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.net.parameters(), 1.0)
        self.opt.step()
        return loss.item(), len(s)
