from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Step:
    obs: torch.Tensor
    act: torch.Tensor
    rew: torch.Tensor
    next_obs: torch.Tensor
    terminated: torch.Tensor


class TwinCritic:
    def __init__(self, q1, q2, actor, gamma, alpha):
        self.q1, self.q2, self.actor, self.gamma, self.alpha = q1, q2, actor, gamma, alpha

    def loss(self, step: Step):
        with torch.no_grad():
            action, log_prob = self.actor(step.next_obs)
            q = torch.min(self.q1(step.next_obs, action), self.q2(step.next_obs, action))
            goal = step.rew + self.gamma * (q - self.alpha * log_prob)
        return F.mse_loss(self.q1(step.obs, step.act), goal) + F.mse_loss(self.q2(step.obs, step.act), goal)
