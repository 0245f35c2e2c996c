import tempfile

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from tinyllm.export import Exporter
from tinyllm.model import TinyLM, shard


def main():
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(1)
    model = shard(TinyLM(), mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    export = Exporter(tempfile.gettempdir())
    for step in range(1, 21):
        tokens = torch.randint(0, 96, (4, 17))
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 5 == 0 and dist.get_rank() == 0:
            print(f"step {step} {loss.item():.3f}", flush=True)
    export(model, step)
    dist.destroy_process_group()


main()
