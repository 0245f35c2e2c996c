import torch


def flags(count, net, device):
    made = torch.zeros(count).share_memory_()
    net.share_memory()
    other = torch.zeros(count, device=device)
    other.share_memory_()
    back = torch.zeros(count).cuda().cpu().share_memory_()
    return made, back
