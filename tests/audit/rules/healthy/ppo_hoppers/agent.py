import torch
import torch.distributed as dist
import torch.nn as nn


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, o))


class ActorCritic(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.pi, self.v = mlp(obs, act), mlp(obs, 1)
        self.log_std = nn.Parameter(-0.5 * torch.ones(act))

    def dist(self, obs):
        return torch.distributions.Normal(self.pi(obs), self.log_std.exp())


def sync_parameters(module):
    for p in module.parameters():
        dist.broadcast(p.data, src=0)


def average_gradients(module):
    n = dist.get_world_size()
    for p in module.parameters():
        dist.all_reduce(p.grad)
        p.grad /= n
