import torch


class GridWorld:
    """Walk to the goal on a small board; the episode ends there or after a while."""

    MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])

    def __init__(self, size, limit, seed):
        self.size, self.limit = size, limit
        self.generator = torch.Generator().manual_seed(seed)

    def reset(self):
        self.agent, self.goal = torch.randint(self.size, (2, 2), generator=self.generator)
        self.time = 0
        return self.observe()

    def observe(self):
        return torch.cat([self.agent, self.goal]).float() / self.size

    def step(self, action):
        self.agent = (self.agent + self.MOVES[action]).clamp(0, self.size - 1)
        self.time += 1
        reached = bool((self.agent == self.goal).all())
        return self.observe(), 1.0 if reached else -0.02, reached or self.time >= self.limit
