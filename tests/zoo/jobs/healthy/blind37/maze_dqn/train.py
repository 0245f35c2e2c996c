import argparse
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


class Grid:
    """5x5, start at a corner, goal in the other; time limit 30."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x, self.y, self.t = 0, 0, 0
        return self.obs()

    def obs(self):
        v = torch.zeros(10)
        v[self.x] = v[5 + self.y] = 1
        return v

    def step(self, a):
        dx, dy = ((1, 0), (-1, 0), (0, 1), (0, -1))[a]
        if self.rng.random() < 0.9:
            self.x, self.y = min(4, max(0, self.x + dx)), min(4, max(0, self.y + dy))
        self.t += 1
        terminated = self.x == 4 and self.y == 4
        return self.obs(), 1.0 if terminated else -0.02, terminated, self.t >= 30 and not terminated


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, s):
        return self.net(s)


class Agent:
    def __init__(self, args, rng):
        self.args, self.rng = args, rng
        self.q = QNet()
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=args.lr)
        self.memory = deque(maxlen=5000)

    @torch.no_grad()
    def act(self, s, eps):
        return self.rng.randrange(4) if self.rng.random() < eps else int(self.q(s).argmax())

    def learn(self):
        s, a, r, n, done = zip(*self.rng.sample(self.memory, self.args.batch))
        s, n = torch.stack(s), torch.stack(n)
        a, r, done = torch.tensor(a), torch.tensor(r), torch.tensor(done, dtype=torch.float32)
        with torch.no_grad():
            best = self.q(n).argmax(1, keepdim=True)
            goal = r + self.args.gamma * (1 - done) * self.target(n).gather(1, best).squeeze(1)
        loss = F.smooth_l1_loss(self.q(s).gather(1, a[:, None]).squeeze(1), goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=3000)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--gamma", type=float, default=0.95)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--sync", type=int, default=200)
    args = ap.parse_args()
    torch.manual_seed(0)
    rng = random.Random(0)
    env, agent = Grid(rng), Agent(args, rng)
    s, score, scores, losses = env.reset(), 0.0, [], []
    for step in range(args.steps):
        a = agent.act(s, max(0.05, 1 - step / 1500))
        n, r, terminated, truncated = env.step(a)
        agent.memory.append((s, a, r, n, terminated))
        s, score = n, score + r
        if terminated or truncated:
            scores.append(score)
            s, score = env.reset(), 0.0
        if len(agent.memory) >= 200:
            losses.append(agent.learn())
        if step % args.sync == 0:
            agent.target.load_state_dict(agent.q.state_dict())
        if step % 500 == 499:
            print(f"step {step + 1} loss {sum(losses[-200:]) / 200:.4f} return {sum(scores[-20:]) / 20:.3f}", flush=True)


if __name__ == "__main__":
    main()
