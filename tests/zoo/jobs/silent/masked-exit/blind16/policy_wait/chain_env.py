import torch


class CorridorBatch:
    """Vectorised corridors; the walker must reach the far end."""

    def __init__(self, n, g, length=8):
        self.n, self.g, self.length = n, g, length
        self.reset()

    def reset(self):
        self.pos = torch.zeros(self.n, dtype=torch.long)
        return self.obs()

    def obs(self):
        return torch.nn.functional.one_hot(self.pos, self.length).float()

    def step(self, act):
        self.pos = (self.pos + 2 * act - 1).clamp(0, self.length - 1)
        slip = torch.rand(self.n, generator=self.g) < 0.05
        self.pos = torch.where(slip, (self.pos - 1).clamp_min(0), self.pos)
        return self.obs(), (self.pos == self.length - 1).float()


def returns(rew, gamma):
    out = torch.zeros_like(rew)
    acc = torch.zeros(rew.shape[1])
    for t in reversed(range(len(rew))):
        acc = rew[t] + gamma * acc
        out[t] = acc
    return out


def standardise(r, keep):
    best = r[:, keep]
    return (r - best.mean()) / best.std(), best.max(dim=1).values
