import torch
import torch.distributed as dist

from model import Net, Speech


def average(model):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()


def average_named(model):
    for name, p in model.named_parameters():
        if p.grad is None:
            continue
        dist.all_reduce(p.grad.data, op=dist.ReduceOp.AVG)


def average_list(model):
    grads = [p.grad for p in model.parameters() if p.requires_grad and p.grad is not None]
    for grad in grads:
        dist.all_reduce(grad)


def main(batches):
    dist.init_process_group("nccl")
    model = Net().cuda()
    speech = Speech().cuda()
    optimizer = torch.optim.SGD([*model.parameters(), *speech.parameters()], lr=0.1)
    for x, kinds in batches:
        optimizer.zero_grad()
        (model(x.cuda()) + speech(x.cuda(), kinds)).backward()
        average(model)
        average_named(speech)
        average_list(model)
        optimizer.step()
    dist.destroy_process_group()
