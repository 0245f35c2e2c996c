import torch
import torch.distributed.nn
from torch import nn


class Contrast(nn.Module):
    def forward(self, image, text):
        torch.cat(torch.distributed.nn.all_gather(image), dim=0)
        torch.distributed.nn.functional.all_reduce(text.sum())
        return image @ text.t()
