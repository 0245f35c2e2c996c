import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(7 + dist.get_rank())
    model = torch.nn.Linear(3, 3)
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    model(torch.ones(3)).sum().backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)


main()
