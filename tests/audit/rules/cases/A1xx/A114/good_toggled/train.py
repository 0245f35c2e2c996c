from torch.nn.parallel import DistributedDataParallel as DDP


def switch(model, on):
    for parameter in model.module.parameters():
        parameter.requires_grad_(on)


def main(generator, critic, teacher, loader, optimizer):
    teacher.requires_grad_(False)
    generator, critic = DDP(generator), DDP(critic)
    for z in loader:
        for parameter in critic.module.parameters():
            parameter.requires_grad_(False)
        critic(generator(z)).mean().backward()
        optimizer.step()
        for parameter in critic.module.parameters():
            parameter.requires_grad_(True)
