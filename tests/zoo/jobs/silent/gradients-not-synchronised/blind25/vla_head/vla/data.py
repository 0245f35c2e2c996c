import torch
from torch.utils.data import Dataset


class Demos(Dataset):
    """Observations of a 7-joint arm, with the 8 next actions of the expert."""

    def __init__(self, n, seed, obs_dim=48, chunk=8, action_dim=7):
        g = torch.Generator().manual_seed(seed)
        w = torch.Generator().manual_seed(17)
        a = torch.randn(obs_dim, 32, generator=w) / obs_dim**0.5
        b = torch.randn(32, chunk * action_dim, generator=w) / 32**0.5
        self.obs = torch.randn(n, obs_dim, generator=g)
        clean = torch.sin(2.0 * self.obs @ a) @ b
        self.actions = (clean + 0.6 * torch.randn(clean.shape, generator=g)).view(n, chunk, action_dim)

    def __len__(self):
        return len(self.obs)

    def __getitem__(self, i):
        return self.obs[i], self.actions[i]
