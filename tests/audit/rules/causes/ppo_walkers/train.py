import random

import gymnasium as gym
import numpy as np
import torch
import torch.distributed as dist

from agent import ActorCritic, average_gradients


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class PPO:
    def __init__(self, env_id, seed, steps=2048, clip=0.2, gamma=0.99):
        self.rank = dist.get_rank()
        seed_everything(seed + 10000 * self.rank)  # cause
        self.env = gym.make(env_id)
        self.steps, self.clip, self.gamma = steps, clip, gamma
        self.ac = ActorCritic(self.env.observation_space.shape[0], self.env.action_space.shape[0])  # cause
        self.optimizer = torch.optim.Adam(self.ac.parameters(), lr=3e-4)
        self.obs, _ = self.env.reset(seed=seed + self.rank)

    def rollout(self):
        rows, rewards, ends = [], [], []
        for _ in range(self.steps):
            obs = torch.as_tensor(self.obs, dtype=torch.float32)
            with torch.no_grad():
                d = self.ac.dist(obs)
                a = d.sample()
                rows.append((obs, a, d.log_prob(a).sum(), self.ac.v(obs).squeeze()))
            self.obs, r, term, trunc, _ = self.env.step(a.numpy())
            rewards.append(r)
            ends.append(term or trunc)
            if ends[-1]:
                self.obs, _ = self.env.reset()
        with torch.no_grad():
            ret = self.ac.v(torch.as_tensor(self.obs, dtype=torch.float32)).item()
        returns = []
        for r, end in zip(reversed(rewards), reversed(ends)):
            ret = r + self.gamma * ret * (not end)
            returns.append(ret)
        obs, act, logp, val = (torch.stack(c) for c in zip(*rows))
        returns = torch.tensor(returns[::-1], dtype=torch.float32)
        return obs, act, logp, returns, returns - val, sum(rewards) / max(1, sum(ends))

    def update(self, obs, act, logp, returns, adv, iters=40):
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(iters):
            ratio = (self.ac.dist(obs).log_prob(act).sum(-1) - logp).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.min(ratio * adv, clipped * adv).mean()
            loss = loss + 0.5 * (self.ac.v(obs).squeeze(-1) - returns).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            average_gradients(self.ac)
            self.optimizer.step()

    def learn(self, iterations):
        for i in range(iterations):
            *batch, score = self.rollout()
            self.update(*batch)
            shown = torch.tensor([score])
            dist.all_reduce(shown)
            if self.rank == 0:
                print(i, shown.item() / dist.get_world_size())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    PPO("Walker2d-v4", seed=0).learn(500)
    dist.destroy_process_group()
