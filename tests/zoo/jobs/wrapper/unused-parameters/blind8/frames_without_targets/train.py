import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from pose.loss import PoseLoss
from pose.model import PoseNet
from pose.stream import Video


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(PoseNet())
    criterion = PoseLoss()
    optim = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, batch in enumerate(Video(camera=rank, steps=80)):
        out = model(batch["frame"])
        loss, items = criterion(out, batch)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} obj {items[0]:.4f} kpt {items[1]:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
