from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


class Encoder:
    def __init__(self, device):
        self.net = torch.nn.Linear(4, 4).to(device)
        self.device = device

    @torch.no_grad()
    def write(self, folder, batches):
        for at, batch in enumerate(batches):
            torch.save(self.net(batch.to(self.device)).half(), Path(folder) / f"{at}.pt")


class Latents(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("*.pt"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.load(self.files[index], weights_only=True)


def main():
    folder = "latents"
    Encoder(torch.device("cuda", 0)).write(folder, [torch.ones(8, 4)] * 9)
    for batch in DataLoader(Latents(folder), batch_size=4, num_workers=2):
        print(batch.shape)


if __name__ == "__main__":
    main()
