import numpy as np
import torch


class BallBalance:
    """Vectorised task: keep a ball in the middle of a tilting beam. Observation: place, speed, tilt."""

    def __init__(self, cfg):
        self.num_envs = cfg["num_envs"]
        self.max_episode_length = cfg["episode_length"]
        self.rng = np.random.default_rng(cfg.get("seed", 42))
        self.state = self._spawn(self.num_envs)
        self.progress = np.zeros(self.num_envs, np.int64)

    def _spawn(self, n):
        return np.stack([self.rng.uniform(-0.8, 0.8, n), self.rng.normal(0, 0.1, n), np.zeros(n)], 1)

    def obs(self):
        noise = self.rng.normal(0, 0.01, self.state.shape)
        return torch.tensor(self.state + noise, dtype=torch.float32)

    def step(self, actions):
        place, speed, tilt = self.state.T
        tilt = np.clip(tilt + 0.1 * np.clip(actions.numpy(), -1, 1), -0.5, 0.5)
        speed = 0.99 * speed - 0.3 * tilt + self.rng.normal(0, 0.01, self.num_envs)
        place = place + 0.1 * speed
        self.state = np.stack([place, speed, tilt], 1)
        self.progress += 1
        reward = 1.0 - np.abs(place) - 0.1 * np.abs(speed)
        done = (np.abs(place) > 1) | (self.progress >= self.max_episode_length)
        if done.any():
            self.state[done] = self._spawn(int(done.sum()))
            self.progress[done] = 0
        return self.obs(), torch.tensor(reward, dtype=torch.float32), torch.tensor(done, dtype=torch.float32)
