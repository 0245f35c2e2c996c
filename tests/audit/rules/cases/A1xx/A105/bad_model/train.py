import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def make_model():
    return torch.nn.Linear(4, 4).cuda()


def worker(rank):
    model = make_model()
    torch.cuda.set_device(rank)
    dist.init_process_group(backend="nccl", rank=rank, world_size=2)
    print(model)


if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
