import gymnasium as gym
import numpy as np
import torch

from agent import Agent

envs = gym.make_vec("CartPole-v1", 8)
agent = Agent()
gamma = 0.99


def collect(obs, steps):
    rows = []
    for _ in range(steps):
        action = agent.act(obs)
        obs, reward, terminated, truncated, info = envs.step(action)
        if truncated.any():
            last = torch.as_tensor(np.stack(info["final_obs"][truncated]))
            reward += gamma * agent.value(last).mean().item()
        rows.append((obs, action, reward, terminated | truncated))
    return rows
