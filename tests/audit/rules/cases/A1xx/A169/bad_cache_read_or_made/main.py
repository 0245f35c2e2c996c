import os

import torch
import torch.distributed as dist


class Mels:
    def __init__(self, path):
        self.path = path

    def table(self, force=False):
        if force or not os.path.exists(self.path):
            torch.save(torch.randn(80, 80), self.path)
        return torch.load(self.path, weights_only=True)


def main():
    dist.init_process_group("nccl")
    print(Mels("mels.pt").table().shape)


if __name__ == "__main__":
    main()
