import os
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from arguments import TrainingArguments
from preprocess import build_dataset, main_process_first


def workdir():
    name = [tempfile.mkdtemp() if os.environ["RANK"] == "0" else None]
    dist.broadcast_object_list(name, src=0)
    return name[0]


def main():
    args = TrainingArguments()
    dist.init_process_group("gloo", timeout=timedelta(seconds=args.ddp_timeout))
    torch.manual_seed(0)
    folder = workdir()
    with main_process_first("tokenizer on dataset"):
        data = build_dataset(args, folder)
    model = DistributedDataParallel(nn.Sequential(nn.Embedding(101, 16), nn.Flatten(), nn.Linear(256, 101)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.max_steps):
        batch = data[torch.randint(len(data), (args.per_device_batch,))]
        loss = nn.functional.cross_entropy(model(batch), batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print("train loss", loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
