import torch


def flags(count):
    made = torch.zeros(count, device="cuda").share_memory_()
    moved = torch.zeros(count).cuda()
    moved.share_memory_()
    return made, moved
