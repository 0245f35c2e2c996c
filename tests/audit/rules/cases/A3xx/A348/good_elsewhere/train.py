"""A helper that is given the whole batch, and a caller, decide about the end."""

from typing import NamedTuple

import torch


class Batch(NamedTuple):
    state: torch.Tensor
    reward: torch.Tensor
    next_state: torch.Tensor
    done: torch.Tensor


class Learner:
    def __init__(self, net, gamma):
        self.net, self.gamma = net, gamma

    def following(self, batch):
        return self.net(batch.next_state).amax(1) * (1 - batch.done)

    def goal(self, batch):
        return batch.reward + self.gamma * self.following(batch)

    def plain_goal(self, batch):
        return batch.reward + self.gamma * self.net(batch.next_state).amax(1)

    def loss(self, batch):
        goal = torch.where(batch.done.bool(), batch.reward, self.plain_goal(batch))
        return (self.net(batch.state).amax(1) - goal).square().mean()
