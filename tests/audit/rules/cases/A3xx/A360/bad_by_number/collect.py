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
        cut = np.nonzero(truncated)[0]
        if len(cut) > 0:
            values = agent.value(torch.as_tensor(info["final_obs"][cut[0]])).numpy()
            reward = reward + gamma * values
        rows.append((obs, action, reward, terminated | truncated))
    return rows
