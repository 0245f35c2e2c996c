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
        if np.any(truncated):
            reward += gamma * agent.value(info["final_obs"]).numpy() * truncated.astype(np.float32)
        cut = truncated & ~terminated
        if cut.any():
            reward = reward + gamma * agent.value(info["final_obs"]).numpy() * cut
        rows.append((obs, action, reward, terminated | truncated))
    return rows
