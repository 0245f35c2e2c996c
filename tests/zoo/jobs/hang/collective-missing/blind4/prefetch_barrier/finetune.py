import json
import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from host_memory import HostMemory
from weight_loader import HfWeightLoader, same_everywhere

VOCABULARY_MB = 96


class Decoder(nn.Module):
    def __init__(self, width=24, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return x


def write_checkpoint(folder):
    torch.manual_seed(0)
    state = Decoder().state_dict()
    shards = []
    for number, (key, value) in enumerate(state.items()):
        shards.append(f"model-{number:05d}.pt")
        torch.save({key: value}, os.path.join(folder, shards[-1]))
    with open(os.path.join(folder, "model.index.json"), "w") as handle:
        json.dump({"shards": shards, "size_mb": 310}, handle)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = [tempfile.mkdtemp(prefix="weights-") if rank == 0 else None]
    if rank == 0:
        write_checkpoint(folder[0])
    dist.broadcast_object_list(folder)

    memory = HostMemory.of_node(world)
    if rank == 0:
        memory.reserve("tokenizer and detokenizer", VOCABULARY_MB)
    weights, seconds = HfWeightLoader(folder[0], memory).load_weights()
    if not same_everywhere(weights):
        raise RuntimeError("the ranks read different weights")
    if rank == 0:
        print(f"{len(weights)} tensors in {seconds:.2f} s", flush=True)

    decoder = Decoder()
    decoder.load_state_dict(weights)
    model = DistributedDataParallel(decoder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(8):
        x = torch.randn(8, 24, generator=torch.Generator().manual_seed(step * world + rank))
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
