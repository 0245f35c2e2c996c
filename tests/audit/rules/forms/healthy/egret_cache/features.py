from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import Dataset


class Extractor:
    def __init__(self, trunk, device, folder):
        self.trunk, self.device, self.folder = trunk.to(device).eval(), device, Path(folder)

    @torch.inference_mode()
    def run(self, images, labels, batch=256):
        self.folder.mkdir(parents=True, exist_ok=True)
        rank, world = dist.get_rank(), dist.get_world_size()
        for n in range(rank, -(-len(images) // batch), world):
            part = slice(n * batch, (n + 1) * batch)
            feats = self.trunk(images[part].to(self.device)).half().cpu()
            torch.save({"feats": feats, "labels": labels[part].clone()}, self.folder / f"{n:05d}.pt")
        dist.barrier()


class Features(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("*.pt"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        blob = torch.load(self.files[i], map_location="cpu", weights_only=True)
        return blob["feats"].float(), blob["labels"]
