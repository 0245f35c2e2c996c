import numpy as np
import torch


class ReplayMemory:
    def __init__(self, capacity, observations, seed):
        self.state = np.zeros((capacity, observations), dtype=np.float32)
        self.following = np.zeros((capacity, observations), dtype=np.float32)
        self.action = np.zeros(capacity, dtype=np.int64)
        self.reward = np.zeros(capacity, dtype=np.float32)
        self.done = np.zeros(capacity, dtype=np.float32)
        self.capacity, self.count = capacity, 0
        self.rng = np.random.default_rng(seed)

    def push(self, state, action, reward, following, done):
        i = self.count % self.capacity
        self.state[i], self.following[i] = state, following
        self.action[i], self.reward[i], self.done[i] = action, reward, done
        self.count += 1

    def sample(self, size):
        i = self.rng.integers(0, min(self.count, self.capacity), size=size)
        arrays = (self.state, self.action, self.reward, self.following, self.done)
        return [torch.from_numpy(a[i]) for a in arrays]
