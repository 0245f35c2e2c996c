import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    pair = dist.new_group([0, 1])
    x = torch.ones(3)
    if rank in (0, 1):
        dist.all_reduce(x, dist.ReduceOp.SUM, pair)
        dist.broadcast(x, 0, pair)
        dist.barrier(pair)
    dist.barrier()
    dist.destroy_process_group()


main()
