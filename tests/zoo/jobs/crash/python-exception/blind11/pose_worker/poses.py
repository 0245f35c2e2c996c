import torch
from torch.utils.data import Dataset


class Poses(Dataset):
    def __init__(self, count=160):
        self.count = count

    def __len__(self):
        return self.count

    def read(self, i):
        g = torch.Generator().manual_seed(i)
        joints = torch.randn(17, 2, generator=g)
        if i == 101:
            joints = joints[:16]
        return joints

    def __getitem__(self, i):
        joints = self.read(i)
        return joints, joints.norm()


def pad_batch(samples):
    joints, sizes = zip(*samples)
    return torch.stack(joints).flatten(1), torch.stack(sizes).unsqueeze(1)
