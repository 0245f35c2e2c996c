import numpy as np


class HindsightSampler:
    def __init__(self, replay_k, reward_fn):
        self.future_p = 1 - 1.0 / (1 + replay_k)
        self.reward_fn = reward_fn

    def sample(self, episodes, batch_size, rng):
        T = episodes["actions"].shape[1]
        e = rng.integers(0, episodes["actions"].shape[0], batch_size)
        t = rng.integers(T, size=batch_size)
        batch = {k: v[e, t].copy() for k, v in episodes.items()}
        her = np.where(rng.random(batch_size) < self.future_p)[0]
        future = t[her] + 1 + (rng.random(len(her)) * (T - t[her])).astype(int)
        batch["goal"][her] = episodes["achieved"][e[her], future]
        batch["reward"] = self.reward_fn(batch["achieved_next"], batch["goal"])
        return batch


class EpisodeBuffer:
    def __init__(self, capacity, horizon, dims, sampler):
        self.capacity, self.current = capacity, 0
        self.sampler = sampler
        self.buffers = {
            "obs": np.zeros((capacity, horizon + 1, dims["obs"])),
            "achieved": np.zeros((capacity, horizon + 1, dims["goal"])),
            "goal": np.zeros((capacity, horizon, dims["goal"])),
            "actions": np.zeros((capacity, horizon, dims["action"])),
        }

    def store(self, obs, achieved, goal, actions, rng):
        n = len(obs)
        if self.current + n <= self.capacity:
            idx = np.arange(self.current, self.current + n)
            self.current += n
        else:
            idx = rng.integers(0, self.current, n)
        for key, value in zip(("obs", "achieved", "goal", "actions"), (obs, achieved, goal, actions)):
            self.buffers[key][idx] = value

    def sample(self, batch_size, rng):
        episodes = {}
        for key, value in self.buffers.items():
            episodes[key] = value[: self.current].copy()
        episodes["obs_next"] = episodes["obs"][:, 1:, :]
        episodes["achieved_next"] = episodes["achieved"][:, 1:, :]
        return self.sampler.sample(episodes, batch_size, rng)
