import argparse

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)


class Corridors:
    """A batch of carts on a line that are pushed left or right to stay near 0."""

    def __init__(self, n, seed):
        self.n, self.g = n, torch.Generator().manual_seed(seed)
        self.reset()

    def reset(self):
        self.s = torch.randn(self.n, 2, generator=self.g) * 0.5
        return self.s

    def step(self, action):
        push = (action.float() * 2 - 1) * 0.15
        v = 0.95 * self.s[:, 1] + push + 0.1 * torch.randn(self.n, generator=self.g)
        x = self.s[:, 0] + 0.2 * v
        self.s = torch.stack([x, v], 1)
        return self.s, 1.0 - x.abs().clamp(max=2)


class ActorCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.critic = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def evaluate(self, obs, actions):
        dist = Categorical(logits=self.actor(obs))
        return dist.log_prob(actions), dist.entropy(), self.critic(obs).squeeze(-1)


def rollout(env, model, steps):
    obs, actions, rewards = [], [], []
    s = env.reset()
    with torch.no_grad():
        for _ in range(steps):
            a = Categorical(logits=model.actor(s)).sample()
            obs.append(s)
            actions.append(a)
            s, r = env.step(a)
            rewards.append(r)
        values = torch.stack([model.critic(o).squeeze(-1) for o in obs] + [model.critic(s).squeeze(-1)])
    return torch.stack(obs), torch.stack(actions), torch.stack(rewards), values


def gae(rewards, values, gamma, lam):
    adv, last = torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * values[t + 1] - values[t]
        last = delta + gamma * lam * last
        adv[t] = last
    return adv, adv + values[:-1]


def update(model, opt, batch, args):
    obs, actions, adv, returns = (t.flatten(0, 1) for t in batch)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(args.update_epochs):
        for idx in torch.randperm(len(obs)).split(args.minibatch):
            with torch.no_grad():
                old_logp, _, _ = model.evaluate(obs[idx], actions[idx])
            logp, entropy, value = model.evaluate(obs[idx], actions[idx])
            ratio = (logp - old_logp).exp()
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            loss = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
            loss = loss + 0.5 * (returns[idx] - value).pow(2).mean() - 0.001 * entropy.mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=40)
    ap.add_argument("--update-epochs", type=int, default=8)
    ap.add_argument("--minibatch", type=int, default=128)
    ap.add_argument("--clip", type=float, default=0.2)
    args = ap.parse_args()
    torch.manual_seed(0)
    env, model = Corridors(16, 0), ActorCritic()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for it in range(args.iterations):
        obs, actions, rewards, values = rollout(env, model, 50)
        update(model, opt, (obs, actions, *gae(rewards, values, 0.98, 0.95)), args)
        if it % 4 == 3:
            print(f"iteration {it + 1} mean reward {rewards.mean():.4f}", flush=True)


if __name__ == "__main__":
    main()
