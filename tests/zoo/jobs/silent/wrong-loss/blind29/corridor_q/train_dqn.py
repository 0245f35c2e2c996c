import argparse
import logging
import random
from statistics import mean

import numpy as np
import torch

from agent import DQN, ReplayMemory
from env import Lander1D

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("dqn")


def evaluate(agent, episodes=20):
    env, returns = Lander1D(seed=1000), []
    for _ in range(episodes):
        state, total, over = env.reset(), 0.0, False
        while not over:
            state, reward, terminated, truncated = env.step(agent.act(state, 0.0))
            total, over = total + reward, terminated or truncated
        returns.append(total)
    return mean(returns)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--frames", type=int, default=9000)
    p.add_argument("--warmup", type=int, default=500)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--gamma", type=float, default=0.98)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--tau", type=float, default=0.02)
    p.add_argument("--memory", type=int, default=20000)
    p.add_argument("--update-every", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    torch.set_num_threads(1)
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    env = Lander1D(args.seed)
    agent = DQN(env.observation_size, env.action_space, args.lr, args.gamma, args.tau)
    memory = ReplayMemory(args.memory)
    state, episode_return, recent, losses, values = env.reset(), 0.0, [], [], []
    for frame in range(1, args.frames + 1):
        epsilon = max(0.05, 1.0 - frame / (0.5 * args.frames))
        action = agent.act(state, epsilon)
        next_state, reward, terminated, truncated = env.step(action)
        memory.push(state, action, reward, next_state, terminated)
        state, episode_return = next_state, episode_return + reward
        if terminated or truncated:
            recent.append(episode_return)
            state, episode_return = env.reset(), 0.0
        if frame > args.warmup and frame % args.update_every == 0:
            loss, q = agent.train_on(memory.sample(args.batch_size))
            losses.append(loss)
            values.append(q)
        if frame % 1500 == 0:
            log.info("frame %d eps %.2f loss %.4f q %.2f return %.2f", frame, epsilon, mean(losses[-300:]),
                     mean(values[-300:]), mean(recent[-20:]))
    log.info("evaluation: %.3f", evaluate(agent))


if __name__ == "__main__":
    main()
