import numpy as np


class PointChaseVecEnv:
    """A point on a line chases a target; observation: target minus position, velocity, clock. Three actions."""

    def __init__(self, num_envs, seed):
        self.num_envs = num_envs
        self.rng = np.random.default_rng(seed)
        self.horizon = 25

    def _draw(self, n):
        return self.rng.uniform(-1, 1, n).astype(np.float32)

    def reset(self):
        self.position, self.target = self._draw(self.num_envs), self._draw(self.num_envs)
        self.velocity = np.zeros(self.num_envs, np.float32)
        self.clock = self.rng.integers(0, self.horizon, self.num_envs)
        return self._obs()

    def _obs(self):
        return np.stack([self.target - self.position, self.velocity, self.clock / self.horizon], 1).astype(np.float32)

    def step(self, actions):
        self.velocity = 0.8 * self.velocity + 0.1 * (actions - 1)
        self.position = self.position + self.velocity
        self.clock = self.clock + 1
        reward = -np.abs(self.target - self.position).astype(np.float32)
        done = self.clock >= self.horizon
        if done.any():
            n = int(done.sum())
            self.position[done], self.target[done] = self._draw(n), self._draw(n)
            self.velocity[done], self.clock[done] = 0.0, 0
        return self._obs(), reward, done.astype(np.float32)
