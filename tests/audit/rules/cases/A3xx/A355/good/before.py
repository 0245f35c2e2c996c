import gymnasium as gym
import numpy as np
import torch

def collect(agent, num_steps, num_envs):
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * num_envs)
    obs = torch.zeros(num_steps, num_envs, 4)
    dones = torch.zeros(num_steps, num_envs)
    rewards = torch.zeros(num_steps, num_envs)
    values = torch.zeros(num_steps, num_envs)
    next_obs = torch.Tensor(envs.reset()[0])
    next_done = torch.zeros(num_envs)
    for step in range(num_steps):
        obs[step] = next_obs
        dones[step] = next_done
        with torch.no_grad():
            action, values[step] = agent(next_obs)
        next_obs, reward, terminated, truncated, _ = envs.step(action.numpy())
        next_done = torch.Tensor(np.logical_or(terminated, truncated))
        next_obs = torch.Tensor(next_obs)
        rewards[step] = torch.tensor(reward)

    with torch.no_grad():
        next_value = agent(next_obs)[1]
    advantages = torch.zeros_like(rewards)
    last = 0.0
    for t in reversed(range(num_steps)):
        if t == num_steps - 1:
            alive = 1.0 - next_done
            following = next_value
        else:
            alive = 1.0 - dones[t + 1]
            following = values[t + 1]
        delta = rewards[t] + 0.99 * following * alive - values[t]
        advantages[t] = last = delta + 0.99 * 0.95 * alive * last
    return obs, advantages
