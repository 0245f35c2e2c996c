import torch
from torch.utils.data import DataLoader, TensorDataset


class NerData:
    def __init__(self, reader, vocab, cfg):
        rows = [vocab.encode(s, cfg.length) for s in reader]
        ids = torch.tensor([r[0] for r in rows])
        tags = torch.tensor([r[1] for r in rows])
        self.loader = DataLoader(TensorDataset(ids, tags), cfg.batch_size, shuffle=True, drop_last=True)
