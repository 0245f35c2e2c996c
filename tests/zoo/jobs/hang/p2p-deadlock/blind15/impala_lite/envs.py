import torch


class Corridor:
    """Walk right to leave; an episode ends at either end or after `limit` moves."""

    def __init__(self, length=9, limit=40, seed=0):
        self.length, self.limit = length, limit
        self.rng = torch.Generator().manual_seed(seed)
        self.reset()

    def reset(self):
        self.at, self.moves = self.length // 2, 0
        return self.observe()

    def observe(self):
        obs = torch.zeros(self.length)
        obs[self.at] = 1
        return obs

    def step(self, action):
        slip = torch.rand((), generator=self.rng) < 0.1
        self.at += (1 if action == 1 else -1) * (-1 if slip else 1)
        self.moves += 1
        done = self.at in (0, self.length - 1) or self.moves >= self.limit
        reward = 1.0 if self.at == self.length - 1 else 0.0
        return (self.reset() if done else self.observe()), reward, done
