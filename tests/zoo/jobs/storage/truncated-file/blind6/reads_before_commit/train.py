import torch
import torch.distributed as dist

from forge.checkpoint import CheckpointManager
from forge.storage import NetworkFolder
from forge.loop import train_epoch, evaluate_best


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    manager = CheckpointManager(NetworkFolder.shared(), dist.get_rank())
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2000, 10))
    for epoch in range(3):
        train_epoch(model, steps=5)
        manager.save(model.module, epoch)
        score = evaluate_best(manager)
        print(f"rank {dist.get_rank()} epoch {epoch} score {score:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
