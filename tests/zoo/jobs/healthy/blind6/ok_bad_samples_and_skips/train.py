import torch
import torch.distributed as dist

from robust.data import make_loader
from robust.tracker import Tracker
from robust.trainer import RobustTrainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    loader, sampler = make_loader(dist.get_rank(), dist.get_world_size())
    trainer = RobustTrainer(Tracker(dist.get_rank()))
    for epoch in range(3):
        sampler.set_epoch(epoch)
        trainer.epoch(loader, epoch)
    trainer.tracker.close()
    if dist.get_rank() == 0:
        print(f"finished with {trainer.skipped} skipped steps", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
