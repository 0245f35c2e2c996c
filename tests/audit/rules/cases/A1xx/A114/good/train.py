import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def freeze(model, keep):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith(keep))


def before(net, args):
    if args.freeze:
        freeze(net, "head")
    return DDP(net)


def adversarial(generator, critic, batches):
    critic = DDP(critic)
    for batch in batches:
        for parameter in critic.parameters():
            parameter.requires_grad = False
        critic(generator(batch)).sum().backward()
        for parameter in critic.parameters():
            parameter.requires_grad = True


def teacher_apart(net, teacher):
    model = DDP(net)
    teacher.requires_grad_(False)
    return model, teacher


def said_by_rank_0(net):
    if dist.get_rank() == 0:
        print(sum(p.requires_grad for p in net.parameters()))
    return DDP(net)


def unused_allowed(net):
    model = DDP(net, find_unused_parameters=True)
    net.encoder.requires_grad_(False)
    return model
