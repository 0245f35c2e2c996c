import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.distributions import Categorical
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class Hyper:
    horizon: int = 256
    envs: int = 16
    epochs: int = 4
    minibatches: int = 8
    clip: float = 0.2
    target_kl: float | None = 0.015
    lr: float = 2.5e-4


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.pi = nn.Linear(128, n_act)
        self.v = nn.Linear(128, 1)

    def forward(self, obs):
        h = self.body(obs)
        return self.pi(h), self.v(h).squeeze(-1)


class PPOLearner:
    def __init__(self, obs_dim, n_act, hp: Hyper, device):
        self.hp, self.device = hp, device
        self.net = DDP(ActorCritic(obs_dim, n_act).to(device), device_ids=[device.index])
        self.opt = torch.optim.Adam(self.net.parameters(), lr=hp.lr, eps=1e-5)

    def _kl(self, old_logp, new_logp):
        with torch.no_grad():
            ratio = new_logp - old_logp
            kl = (ratio.exp() - 1 - ratio).mean()
        return kl.item()  # cause

    def minibatch_step(self, mb):
        logits, value = self.net(mb["obs"])
        pi = Categorical(logits=logits)
        logp = pi.log_prob(mb["act"])
        ratio = (logp - mb["logp"]).exp()
        adv = (mb["adv"] - mb["adv"].mean()) / (mb["adv"].std() + 1e-8)
        surr = torch.min(ratio * adv, ratio.clamp(1 - self.hp.clip, 1 + self.hp.clip) * adv)
        loss = -surr.mean() + 0.5 * (value - mb["ret"]).pow(2).mean() - 0.01 * pi.entropy().mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()
        return self._kl(mb["logp"], logp)

    def update(self, rollout):
        n = rollout["obs"].size(0)
        for _ in range(self.hp.epochs):
            perm = torch.randperm(n, device=self.device)
            for idx in perm.chunk(self.hp.minibatches):
                kl = self.minibatch_step({k: v[idx] for k, v in rollout.items()})
                if self.hp.target_kl is not None and kl > 1.5 * self.hp.target_kl:  # cause
                    return kl
        return kl


def train(make_collector, hp=Hyper(), iterations=1000):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    device = torch.device("cuda", local)
    torch.manual_seed(100 + dist.get_rank())
    collector = make_collector(hp.envs, hp.horizon, seed=dist.get_rank())
    learner = PPOLearner(collector.obs_dim, collector.n_act, hp, device)
    for it in range(iterations):
        rollout = collector.collect(learner.net.module, device)
        kl = learner.update(rollout)
        if dist.get_rank() == 0 and it % 10 == 0:
            print(f"iter {it} kl {kl:.4f} return {collector.mean_return:.2f}")
    dist.destroy_process_group()
