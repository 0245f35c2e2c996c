import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from clips.container import Pack


class Clips(Dataset):
    def __init__(self, count):
        self.pack = Pack(count, bad=count - 5)

    def __len__(self):
        return len(self.pack)

    def __getitem__(self, number):
        frames = self.pack.frames(number)
        clip = torch.frombuffer(bytearray(frames[:48]), dtype=torch.uint8).float() / 255
        return clip, self.pack.header(number)[1]


def build_loader(rank, world):
    data = Clips(96)
    return DataLoader(data, batch_size=4, num_workers=1,
                      sampler=DistributedSampler(data, world, rank, shuffle=False))
