import numpy as np
from torch.utils.data import Dataset


class Skeletons(Dataset):
    JOINTS = 17

    def __init__(self, count, seed, transform):
        rng = np.random.default_rng(seed)
        walks = rng.standard_normal((count, self.JOINTS, 3), dtype=np.float32).cumsum(1)
        self.joints = walks / np.abs(walks).max()
        self.transform = transform

    def __len__(self):
        return len(self.joints)

    def __getitem__(self, index):
        joints = self.joints[index]
        return self.transform(joints[:, :2]), joints[:, 2]
