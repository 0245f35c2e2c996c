import io
import json

import numpy as np
import torch
import torch.distributed as dist


def main(net, path, rank, **options):
    dist.init_process_group("nccl")
    torch.cuda.set_device(rank)
    net.load_state_dict(torch.load(path, map_location="cpu"))
    net.load_state_dict(torch.load(path, "cpu"))
    net.load_state_dict(torch.load(path, map_location=f"cuda:{rank}"))
    net.load_state_dict(torch.load(path, **options))
    table = np.load("table.npy")
    settings = json.load(io.StringIO("{}"))
    torch.save(net.state_dict(), path)
    return table, settings


def through_memory(net):
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    buffer.seek(0)
    net.load_state_dict(torch.load(buffer))
