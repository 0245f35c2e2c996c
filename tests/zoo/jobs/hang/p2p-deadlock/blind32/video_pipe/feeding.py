"""Who has which part of a sample: clips are read by the first stage, targets are wanted by the last."""
import torch
import torch.distributed as dist


class ClipReader:
    def __init__(self, width, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.mix = torch.randn(width, width, generator=self.g) / width ** 0.5
        self.width = width

    def read(self, n):
        clip = torch.randn(n, self.width, generator=self.g)
        noise = 0.1 * torch.randn(n, self.width, generator=self.g)
        return clip, torch.tanh(clip @ self.mix) + noise


class Feeder:
    def __init__(self, reader, width, micro_size):
        self.reader, self.width, self.micro_size = reader, width, micro_size
        self.rank, self.last = dist.get_rank(), dist.get_world_size() - 1

    def next_clip(self):
        """For passes without a loss."""
        return self.reader.read(self.micro_size)[0] if self.rank == 0 else None

    def next_micro(self):
        """Clip for the first stage; its target travels to the last stage."""
        if self.rank == 0:
            clip, target = self.reader.read(self.micro_size)
            dist.send(target, self.last)
            return clip
        return None

    def next_target(self):
        target = torch.empty(self.micro_size, self.width)
        dist.recv(target, 0)
        return target
