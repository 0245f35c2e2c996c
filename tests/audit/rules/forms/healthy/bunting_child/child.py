import os
import socket
import subprocess
import sys

import torch
import torch.distributed as dist

TORCHRUN = ("RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def clean_env():
    env = {k: v for k, v in os.environ.items() if k not in TORCHRUN and not k.startswith("TORCHELASTIC")}
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), CUDA_VISIBLE_DEVICES="")
    return env


def evaluate(path, device):
    failed = torch.zeros((), dtype=torch.int32, device=device)
    if dist.get_rank() == 0:
        try:
            subprocess.run([sys.executable, "score.py", path], env=clean_env(), timeout=300, check=True)
        except subprocess.SubprocessError as e:
            print(e, file=sys.stderr, flush=True)
            failed.fill_(1)
    dist.all_reduce(failed)
    if failed.item():
        raise RuntimeError(f"scoring of {path} failed")
