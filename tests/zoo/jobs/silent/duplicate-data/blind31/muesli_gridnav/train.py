import argparse
import random

import torch

from agent import Agent
from env import GridNav


def evaluate(agent, n, episodes=60):
    env = GridNav(n, seed=10_000)
    total = 0.0
    for _ in range(episodes):
        obs, over = env.reset(), False
        while not over:
            a, _ = agent.act(obs, greedy=True)
            obs, r, reached, cut = env.step(a)
            total += r
            over = reached or cut
    return total / episodes


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--grid", type=int, default=6)
    p.add_argument("--episodes", type=int, default=320)
    p.add_argument("--updates", type=int, default=3)
    p.add_argument("--batch-episodes", type=int, default=16)
    p.add_argument("--capacity", type=int, default=64)
    p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    torch.set_num_threads(1)

    env = GridNav(args.grid, seed=args.seed)
    agent = Agent(2 * args.grid ** 2, 4, args.capacity, gamma=0.97, lr=1e-3)
    scores = []
    for ep in range(1, args.episodes + 1):
        score, length = agent.self_play(env)
        scores.append(score)
        for _ in range(args.updates):
            loss, n = agent.update(args.batch_episodes)
        if ep % 40 == 0:
            print(f"episode {ep} score {sum(scores[-40:]) / 40:.3f} len {length} loss {loss:.4f} "
                  f"replay {len(agent.state_replay)} eval {evaluate(agent, args.grid):.3f}", flush=True)
    torch.save(agent.net.state_dict(), "policy.pt")


if __name__ == "__main__":
    main()
