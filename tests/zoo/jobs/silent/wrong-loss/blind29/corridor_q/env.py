import numpy as np


class Lander1D:
    """A craft above the ground: hold or fire. Touching down slowly pays, touching down fast costs."""

    action_space, observation_size = 2, 2

    def __init__(self, seed=0, limit=80):
        self.rng, self.limit = np.random.default_rng(seed), limit

    def reset(self):
        self.h, self.v, self.t = self.rng.uniform(4.0, 8.0), self.rng.uniform(-0.5, 0.5), 0
        return self._obs()

    def _obs(self):
        return np.array([self.h / 5.0, self.v], dtype=np.float32)

    def step(self, action):
        self.t += 1
        self.v += 0.1 * (0.22 * 10 * action - 1.0)
        self.h += 0.2 * self.v
        reward, terminated = -0.02 - 0.03 * action, False
        if self.h <= 0:
            terminated = True
            reward = 3.0 - 4.0 * min(1.5, abs(self.v))
        elif self.h > 12:
            terminated, reward = True, -3.0
        truncated = self.t >= self.limit and not terminated
        return self._obs(), reward, terminated, truncated
