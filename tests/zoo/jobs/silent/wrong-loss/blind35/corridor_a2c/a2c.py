import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

from envs import VectorEnv


class ActorCritic(nn.Module):
    def __init__(self, obs, actions, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, actions)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return self.policy(h), self.value(h)


def collect(model, env, obs, horizon):
    batch = {"obs": [], "act": [], "rew": [], "done": []}
    for _ in range(horizon):
        with torch.no_grad():
            logits, _ = model(torch.from_numpy(obs))
        action = Categorical(logits=logits).sample().numpy()
        nxt, reward, done = env.step(action)
        for key, item in zip(batch, (obs, action, reward, done)):
            batch[key].append(item)
        obs = nxt
    return {k: torch.from_numpy(np.stack(v)) for k, v in batch.items()}, obs


def discounted(model, batch, last_obs, gamma):
    with torch.no_grad():
        running = model(torch.from_numpy(last_obs))[1].squeeze(-1)
    returns = torch.zeros_like(batch["rew"])
    for t in reversed(range(len(returns))):
        running = batch["rew"][t] + gamma * (1 - batch["done"][t]) * running
        returns[t] = running
    return returns


def update(model, optimizer, batch, returns, args):
    obs = batch["obs"].flatten(0, 1)
    actions = batch["act"].flatten()
    targets = returns.flatten()
    logits, values = model(obs)
    dist = Categorical(logits=logits)
    value_loss = F.mse_loss(values.squeeze(-1), targets)
    advantage = targets - values.detach()
    policy_loss = -(dist.log_prob(actions) * advantage).mean()
    loss = policy_loss + args.value_coef * value_loss - args.entropy_coef * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return policy_loss.item(), value_loss.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=300)
    p.add_argument("--envs", type=int, default=16)
    p.add_argument("--horizon", type=int, default=8)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--value-coef", type=float, default=0.5)
    p.add_argument("--entropy-coef", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(args.seed)

    env = VectorEnv(args.envs, args.seed)
    obs = env.reset()
    model = ActorCritic(obs.shape[1], 2)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=args.lr, eps=1e-5)
    for it in range(1, args.updates + 1):
        batch, obs = collect(model, env, obs, args.horizon)
        returns = discounted(model, batch, obs, args.gamma)
        pl, vl = update(model, optimizer, batch, returns, args)
        if it % 50 == 0:
            print(f"update {it} policy {pl:.4f} value {vl:.4f} good ends {np.mean(env.outcomes[-200:]):.3f}", flush=True)
    torch.save(model.state_dict(), "a2c.pt")


if __name__ == "__main__":
    main()
