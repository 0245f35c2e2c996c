import torch
from torch.utils.data import Dataset


class PairDataset(Dataset):
    def __init__(self, path):
        blob = torch.load(path, map_location="cpu", weights_only=True)
        self.pixels, self.tokens = blob["pixels"], blob["tokens"]

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, i):
        return {"pixels": self.pixels[i].float() / 255, "tokens": self.tokens[i]}
