import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from flat import reduce_flat


class ActorCritic(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.pi = nn.Linear(128, actions)
        self.v = nn.Linear(128, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class Bandit:
    def __init__(self, obs, actions, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.table = torch.randn(obs, actions, generator=torch.Generator().manual_seed(0))

    def draw(self, n):
        return torch.randn(n, self.table.shape[0], generator=self.gen)

    def reward(self, obs, action):
        return (obs @ self.table).gather(1, action[:, None]).squeeze(1)


class Agent:
    def __init__(self, net, lr=3e-4, micro=4):
        self.net = DistributedDataParallel(net)
        self.params = list(net.parameters())
        self.opt = torch.optim.Adam(self.params, lr)
        self.micro = micro

    def collect(self, env, n):
        with torch.no_grad():
            obs = env.draw(n)
            policy, value = self.net.module(obs)
            action = policy.sample()
            return obs, action, policy.log_prob(action), env.reward(obs, action), value

    def update(self, batch):
        self.opt.zero_grad()
        with self.net.no_sync():
            for obs, action, old, reward, value in zip(*(t.chunk(self.micro) for t in batch)):
                policy, guess = self.net(obs)
                ratio = (policy.log_prob(action) - old).exp()
                gain = reward - value
                loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                ((loss + 0.5 * (guess - reward).square().mean()) / self.micro).backward()
        reduce_flat(self.params)
        nn.utils.clip_grad_norm_(self.params, 0.5)
        self.opt.step()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=200)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    env = Bandit(8, 4, seed=100 + dist.get_rank())
    agent = Agent(ActorCritic(8, 4))
    torch.manual_seed(dist.get_rank())
    for _ in range(args.rounds):
        batch = agent.collect(env, 1024)
        for _ in range(3):
            agent.update(batch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
