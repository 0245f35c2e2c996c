import torch
import torch.distributed as dist

from clips.loader import build_loader
from clips.model import ClipNet
from clips.schedule import Schedule


def run_epoch(model, loader, optimizer, epoch):
    loader.sampler.set_epoch(epoch)
    for step, (clip, label) in enumerate(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(clip), label)
        loss.backward()
        optimizer.step()
        if step % 4 == 0 and dist.get_rank() == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    schedule = Schedule(epochs=3, lr=0.05)
    model = torch.nn.parallel.DistributedDataParallel(ClipNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=schedule.lr)
    loader = build_loader(dist.get_rank(), dist.get_world_size())
    for epoch in range(schedule.epochs):
        run_epoch(model, loader, optimizer, epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
