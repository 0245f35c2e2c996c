import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class EpisodeDataset(Dataset):
    """Synthetic demonstrations: a state and the action chunk that an expert took in it."""

    def __init__(self, episodes, horizon, action_dim, state_dim, seed):
        rng = np.random.default_rng(seed)
        self.states = rng.standard_normal((episodes, state_dim)).astype(np.float32)
        mix = rng.standard_normal((state_dim, action_dim)).astype(np.float32) / state_dim ** 0.5
        phase = np.linspace(0, np.pi, horizon, dtype=np.float32)[None, :, None]
        drive = np.tanh(self.states @ mix)[:, None, :]
        self.actions = (drive * np.cos(phase) + 0.3 * drive ** 2 * np.sin(2 * phase)).astype(np.float32)

    def __len__(self):
        return len(self.states)

    def __getitem__(self, index):
        return torch.from_numpy(self.states[index]), torch.from_numpy(self.actions[index])


def build_loader(cfg, runtime):
    dataset = EpisodeDataset(**cfg["data"], seed=cfg["seed"])
    sampler = DistributedSampler(
        dataset, num_replicas=runtime.world_size, rank=runtime.rank, shuffle=True, seed=cfg["seed"]
    )
    return DataLoader(dataset, batch_size=cfg["train"]["batch_size"], sampler=sampler, drop_last=True)
