import torch
import torch.distributed as dist
from budget import Budget


def main():
    dist.init_process_group("gloo")
    budget = Budget(60)
    step = 0
    done = torch.zeros(1)
    while not done:
        done = torch.tensor([float(budget.spent())])
        dist.all_reduce(done, op=dist.ReduceOp.MAX)
        value = torch.ones(1)
        dist.all_reduce(value)
        step += 1
    print(step)
    dist.destroy_process_group()


main()
