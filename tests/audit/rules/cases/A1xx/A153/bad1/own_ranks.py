import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(index, world):
    dist.init_process_group("nccl", rank=index, world_size=world)
    torch.cuda.set_device(dist.get_rank())


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
