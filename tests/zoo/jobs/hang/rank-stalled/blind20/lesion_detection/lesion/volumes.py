import torch
from torch.utils.data import Dataset


class VolumeDataset(Dataset):
    def __init__(self, records, size):
        self.records, self.size = records, size

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        g = torch.Generator().manual_seed(hash((record["site"], index)) % 2 ** 31)
        volume = torch.randn(1, self.size, self.size, self.size, generator=g)
        if record["label"]:
            c = int(torch.randint(2, self.size - 4, (1,), generator=g))
            volume[0, c:c + 3, c:c + 3, c:c + 3] += 2.5
        return volume, float(record["label"])
