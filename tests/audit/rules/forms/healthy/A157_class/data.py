import torch
from torch.utils.data import DataLoader, TensorDataset


class Data:
    def __init__(self, cfg):
        self.cfg = cfg
        self.train = TensorDataset(*torch.load("train.pt", weights_only=True))

    def train_loader(self):
        sampler = torch.utils.data.DistributedSampler(self.train, shuffle=False)
        return DataLoader(self.train, batch_size=self.cfg.batch, sampler=sampler)
