import argparse
import copy
import time

import numpy as np
import torch
from torch import nn

from replay import EpisodeBuffer, HindsightSampler

OBS, GOAL, ACTION, HORIZON = 96, 2, 2, 40


def reward_fn(achieved, goal):
    return -(np.linalg.norm(achieved - goal, axis=-1) > 0.1).astype(np.float32)


class ArmField:
    """Many point effectors, each with its own goal and a camera-like observation."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.lift = np.random.default_rng(0).normal(size=(GOAL, OBS - GOAL))

    def observe(self):
        return np.concatenate([self.pos, np.tanh(self.pos @ self.lift)], 1)

    def reset(self):
        self.pos = self.rng.uniform(-0.3, 0.3, (self.n, GOAL))
        self.goal = self.rng.uniform(-1, 1, (self.n, GOAL))
        return self.observe()

    def step(self, action):
        self.pos = np.clip(self.pos + 0.1 * action, -1.2, 1.2)
        return self.observe()


def mlp(inp, out, last=None):
    layers = [nn.Linear(inp, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, out)]
    return nn.Sequential(*layers, *([last] if last else []))


class Agent:
    def __init__(self, lr, gamma=0.95):
        self.actor, self.critic = mlp(OBS + GOAL, ACTION, nn.Tanh()), mlp(OBS + GOAL + ACTION, 1)
        self.actor_t, self.critic_t = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.opt_a = torch.optim.Adam(self.actor.parameters(), lr)
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr)
        self.gamma = gamma

    @torch.no_grad()
    def act(self, obs, goal, rng, noise):
        a = self.actor(torch.as_tensor(np.concatenate([obs, goal], 1), dtype=torch.float32)).numpy()
        a = np.clip(a + noise * rng.normal(size=a.shape), -1, 1)
        random = rng.random(len(a)) < (0.3 if noise else 0.0)
        a[random] = rng.uniform(-1, 1, (random.sum(), ACTION))
        return a

    def update(self, batch):
        b = {k: torch.as_tensor(v, dtype=torch.float32) for k, v in batch.items()}
        now, nxt = torch.cat([b["obs"], b["goal"]], 1), torch.cat([b["obs_next"], b["goal"]], 1)
        with torch.no_grad():
            q_next = self.critic_t(torch.cat([nxt, self.actor_t(nxt)], 1)).squeeze(1)
            target = (b["reward"] + self.gamma * q_next).clamp(-1 / (1 - self.gamma), 0)
        loss_c = (self.critic(torch.cat([now, b["actions"]], 1)).squeeze(1) - target).square().mean()
        self.opt_c.zero_grad()
        loss_c.backward()
        self.opt_c.step()
        a = self.actor(now)
        loss_a = -self.critic(torch.cat([now, a], 1)).mean() + a.square().mean()
        self.opt_a.zero_grad()
        loss_a.backward()
        self.opt_a.step()
        with torch.no_grad():
            for net, tgt in ((self.actor, self.actor_t), (self.critic, self.critic_t)):
                for p, q in zip(net.parameters(), tgt.parameters()):
                    q.lerp_(p, 0.05)
        return loss_c.item()


def collect(env, agent, rng, noise):
    obs = env.reset()
    all_obs, achieved, actions = [obs], [env.pos.copy()], []
    for _ in range(HORIZON):
        a = agent.act(obs, env.goal, rng, noise)
        obs = env.step(a)
        all_obs.append(obs)
        achieved.append(env.pos.copy())
        actions.append(a)
    goal = np.repeat(env.goal[:, None], HORIZON, 1)
    success = (reward_fn(achieved[-1], env.goal) == 0).mean()
    return np.stack(all_obs, 1), np.stack(achieved, 1), goal, np.stack(actions, 1), success


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=9)
    p.add_argument("--updates", type=int, default=40)
    p.add_argument("--envs", type=int, default=800)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    env, agent = ArmField(args.envs, rng), Agent(args.lr)
    buffer = EpisodeBuffer(8000, HORIZON, {"obs": OBS, "goal": GOAL, "action": ACTION}, HindsightSampler(4, reward_fn))
    for epoch in range(args.epochs):
        start = time.time()
        *episode, _ = collect(env, agent, rng, 0.2)
        buffer.store(*episode, rng)
        losses = [agent.update(buffer.sample(args.batch_size, rng)) for _ in range(args.updates)]
        *_, success = collect(env, agent, rng, 0.0)
        print(f"epoch {epoch} critic loss {np.mean(losses):.4f} success {success:.2f} "
              f"episodes {buffer.current} {time.time() - start:.1f}s", flush=True)


if __name__ == "__main__":
    main()
