import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from detlite.data import make_loader
from detlite.head import DetectionLoss, TinyDetector


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(TinyDetector(), find_unused_parameters=True)
    criterion = DetectionLoss(group=dist.new_group())
    optim = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(4):
        for step, (image, label, box) in enumerate(make_loader(rank, world)):
            scores, deltas = model(image)
            losses = criterion(scores, deltas, label, box)
            optim.zero_grad(set_to_none=True)
            sum(losses.values()).backward()
            optim.step()
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step} " + " ".join(f"{k} {v.item():.3f}" for k, v in losses.items()), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
