import torch

DEVICE = torch.zeros(1).cuda().device


def evaluate(path):
    return torch.ones(3, device="cuda").sum()


def start(path):
    context = torch.multiprocessing.get_context("spawn")
    process = context.Process(target=evaluate, args=(path,))
    process.start()
    return process
