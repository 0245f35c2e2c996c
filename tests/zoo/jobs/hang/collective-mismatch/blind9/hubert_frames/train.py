import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from speech import FrameDataset, HuBERTModule


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = FrameDataset()
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    module = HuBERTModule()
    for epoch in range(3):
        sampler.set_epoch(epoch)
        losses = [module.training_step(batch) for batch in loader]
        done = [v for v in losses if v is not None]
        print(f"rank {dist.get_rank()} epoch {epoch} loss {sum(done) / len(done):.4f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
