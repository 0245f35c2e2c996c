import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

import codec


class Frames(Dataset):
    def __init__(self, n=1600):
        rng = np.random.default_rng(0)
        self.blobs, self.labels = [], []
        for i in range(n):
            frame = rng.integers(0, 255, (32, 32), dtype=np.uint8)
            label = i % 4
            frame[label * 8: label * 8 + 8] //= 2
            self.blobs.append(codec.encode(frame))
            self.labels.append(label)
        # one recording was cut while the camera changed its mode
        self.blobs[1301] = np.array([1080, 1920], dtype=np.uint16).tobytes() + self.blobs[1301][4:]

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, i):
        image = torch.from_numpy(codec.decode(self.blobs[i])).float() / 255
        return image[None], self.labels[i]


def net():
    return nn.Sequential(nn.Conv2d(1, 16, 5, 2), nn.ReLU(), nn.Conv2d(16, 32, 5, 2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(32 * 25, 4))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = Frames()
    loader = DataLoader(data, 20, sampler=DistributedSampler(data, shuffle=False), num_workers=2, persistent_workers=True)
    model = DDP(net())
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(4):
        correct = 0
        for image, label in loader:
            out = model(image)
            loss = nn.functional.cross_entropy(out, label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            correct += (out.argmax(1) == label).sum().item()
        if rank == 0:
            print(f"epoch {epoch} acc {2 * correct / len(data):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
