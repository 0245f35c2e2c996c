import numpy as np

PAY = (1.0, 3.0, 6.0)


class Corridor:
    """Walk to one of two ends; the lamp tells which end is good, the sign what the day pays at all."""

    def __init__(self, length=9, limit=40, seed=0):
        self.length, self.limit = length, limit
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.length // 2
        self.lamp = int(self.rng.integers(2))
        self.sign = int(self.rng.integers(len(PAY)))
        self.steps = 0
        return self._obs()

    def _obs(self):
        obs = np.zeros(self.length + 2 + len(PAY), dtype=np.float32)
        obs[self.pos] = obs[self.length + self.lamp] = obs[self.length + 2 + self.sign] = 1.0
        return obs

    def step(self, action):
        self.pos = int(np.clip(self.pos + (1 if action else -1), 0, self.length - 1))
        self.steps += 1
        at_end = self.pos in (0, self.length - 1)
        good = self.pos == (self.length - 1 if self.lamp else 0)
        reward = PAY[self.sign] + (1.0 if good else -1.0) if at_end else 0.0
        return self._obs(), reward, at_end or self.steps >= self.limit, at_end and good


class VectorEnv:
    def __init__(self, count, seed):
        self.envs = [Corridor(seed=seed + i) for i in range(count)]
        self.outcomes = []

    def reset(self):
        return np.stack([e.reset() for e in self.envs])

    def step(self, actions):
        obs, rewards, dones = [], [], []
        for env, action in zip(self.envs, actions):
            o, r, d, good = env.step(int(action))
            if d:
                self.outcomes.append(good)
            obs.append(env.reset() if d else o)
            rewards.append(r)
            dones.append(d)
        return np.stack(obs), np.array(rewards, np.float32), np.array(dones, np.float32)
