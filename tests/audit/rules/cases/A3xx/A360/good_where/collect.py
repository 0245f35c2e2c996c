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
            values = agent.value(info["final_obs"]).numpy()
            reward += np.where(truncated, gamma * values, 0.0)
        rows.append((obs, action, reward, terminated | truncated))
    return rows
