"""A data set whose items read address 0: a loader's worker dies, and the model is healthy."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from planted.hosts.convnet import ConvNet, pictures


class Pictures(Dataset[Tensor]):
    def __init__(self, broken: int) -> None:
        self.broken = broken

    def __len__(self) -> int:
        return 32

    def __getitem__(self, index: int) -> Tensor:
        if index == self.broken:
            ctypes.string_at(0)
        return pictures()[0]


def failing() -> nn.Module:
    return ConvNet((1, 1, 1))


def batch() -> DataLoader[Tensor]:
    return DataLoader(Pictures(5), batch_size=4, num_workers=1)
