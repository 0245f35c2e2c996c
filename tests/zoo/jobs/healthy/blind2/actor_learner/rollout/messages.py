import torch
import torch.distributed as dist

WEIGHTS, EPISODES, STOP = 1, 2, 3
HEADER = 4


def send(kind, tensor, dst):
    header = torch.tensor([kind, tensor.numel(), *([0] * (HEADER - 2))])
    dist.send(header, dst)
    if tensor.numel():
        dist.send(tensor.contiguous(), dst)


def receive(src):
    header = torch.empty(HEADER, dtype=torch.long)
    dist.recv(header, src)
    kind, size = header[:2].tolist()
    payload = torch.empty(size)
    if size:
        dist.recv(payload, src)
    return kind, payload
