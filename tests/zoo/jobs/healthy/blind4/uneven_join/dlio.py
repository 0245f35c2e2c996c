"""Shares of files that do not come out even."""
import torch


class FileShares:
    def __init__(self, files, batch_size, rank, world):
        self.files = list(range(files))[rank::world]
        self.batch_size = batch_size

    def __len__(self):
        return -(-len(self.files) // self.batch_size)

    def __iter__(self):
        for start in range(0, len(self.files), self.batch_size):
            chosen = self.files[start : start + self.batch_size]
            yield torch.stack([torch.full((5,), number / 161.0) for number in chosen])


def log_line(rank, epoch, steps, loss):
    return f"rank {rank} epoch {epoch}: {steps} steps, loss {loss:.5f}"
