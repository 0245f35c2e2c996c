import torch


class Buffer:
    def __init__(self, steps, envs, size):
        self.obs = torch.zeros(steps, envs, size)
        self.dones = torch.zeros(steps, envs, dtype=torch.bool)
        self.rewards = torch.zeros(steps, envs)
        self.values = torch.zeros(steps + 1, envs)

    def advantages(self, last_done):
        found = torch.zeros_like(self.rewards)
        last = 0.0
        for t in reversed(range(len(self.rewards))):
            alive = (~last_done if t + 1 == len(self.rewards) else torch.logical_not(self.dones[t + 1])).float()
            delta = self.rewards[t] + 0.99 * self.values[t + 1] * alive - self.values[t]
            found[t] = last = delta + 0.95 * alive * last
        return found
