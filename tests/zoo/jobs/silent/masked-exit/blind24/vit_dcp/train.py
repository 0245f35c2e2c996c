import collections
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from vit.model import ViT
from vit.saver import Saver


class Meter:
    """Running means by name, read by the progress printer and kept with the model."""

    def __init__(self):
        self.sums = collections.defaultdict(lambda: [0.0, 0])

    def add(self, **values):
        for name, value in values.items():
            entry = self.sums[name]
            entry[0], entry[1] = entry[0] + value, entry[1] + 1

    def mean(self, name):
        total, count = self.sums[name]
        return total / max(count, 1)


def main(steps=90):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    box = [tempfile.mkdtemp(prefix="vit-")] if rank == 0 else [None]
    dist.broadcast_object_list(box)
    torch.manual_seed(0)
    model = DDP(ViT())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    saver, meter = Saver(box[0], dist.new_group(backend="gloo")), Meter()
    g = torch.Generator().manual_seed(rank)
    for step in range(1, steps + 1):
        labels = torch.randint(0, 7, (24,), generator=g)
        images = torch.randn(24, 3, 16, 16, generator=g) * 0.5 + labels[:, None, None, None] / 7
        logits = model(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.add(loss=loss.item(), accuracy=(logits.argmax(1) == labels).float().mean().item())
        if step % 30 == 0:
            where = saver.save(step, model=model.module.state_dict(), meter=meter)
            if rank == 0:
                print(f"step {step} loss {meter.mean('loss'):.3f} accuracy {meter.mean('accuracy'):.3f}, snapshot goes to {where}", flush=True)
    dist.barrier()
    if rank == 0:
        print(f"done: resume from {saver.last}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
