from dataclasses import dataclass

import torch

from arms import Tracking
from seeding import stage_seed


@dataclass
class Stage:
    until: int
    drift: float


PLAN = [Stage(30, 0.02), Stage(70, 0.08), Stage(120, 0.15)]


class StageRunner:
    def __init__(self, cfg, process_seed):
        self.cfg = cfg
        self.index = 0
        self.env = Tracking(cfg.n_envs, PLAN[0].drift, process_seed)
        self.act_gen = torch.Generator().manual_seed(process_seed + 1)

    def advance(self, iteration):
        if iteration < PLAN[self.index].until:
            return
        self.index += 1
        seed = stage_seed(self.cfg.seed, self.index)
        self.env = Tracking(self.cfg.n_envs, PLAN[self.index].drift, seed)
        self.act_gen.manual_seed(seed + 1)

    def play(self, policy, horizon):
        obs, logp, rewards = self.env.reset(), [], []
        for _ in range(horizon):
            probs = policy(obs).softmax(-1)
            act = torch.multinomial(probs.detach(), 1, generator=self.act_gen)
            logp.append(probs.gather(1, act).log().squeeze(1))
            obs, rew = self.env.step(act.squeeze(1))
            rewards.append(rew)
        return torch.stack(logp), torch.stack(rewards)
