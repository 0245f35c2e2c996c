import ctypes

import torch


def gather(source, index):
    out = torch.empty(len(index), *source.shape[1:])
    width = source.element_size() * source[0].numel()
    for row, i in enumerate(index.tolist()):
        ctypes.memmove(out.data_ptr() + row * width, i * width, width)   # forgets the base address
    return out
