import torch
from torch.utils.data import DataLoader, Dataset


class PickDataset(Dataset):
    def __init__(self, records, onset):
        self.records, self.onset = records, onset

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        return self.records[i], self.onset[i]


def collate(batch):
    waveforms = torch.tensor([record for record, _ in batch], dtype=torch.float32)
    picks = torch.tensor([onset for _, onset in batch], dtype=torch.float32)
    waveforms = waveforms - waveforms.mean(-1, keepdim=True)
    return waveforms / waveforms.std(-1, keepdim=True), picks


def make_loader(records, onset, batch_size, shuffle):
    return DataLoader(PickDataset(records, onset), batch_size=batch_size, shuffle=shuffle, collate_fn=collate)
