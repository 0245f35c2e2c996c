import torch

from buffer import Buffer


def fill(buffer: Buffer, env, agent, obs):
    done = torch.zeros(len(obs), dtype=torch.bool)
    for i in range(len(buffer.rewards)):
        buffer.obs[i] = obs
        action, buffer.values[i] = agent(obs)
        obs, reward, done, _ = env.step(action)
        buffer.rewards[i], buffer.dones[i] = reward, done
    buffer.values[-1] = agent(obs)[1]
    return buffer.advantages(done)
