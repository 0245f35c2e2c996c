import torch
from torch.optim import lr_scheduler


def train(generator, discriminator, batches, milestones):
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4)
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-4)
    sched_g = lr_scheduler.MultiStepLR(opt_g, milestones)
    sched_d = lr_scheduler.MultiStepLR(opt_g, milestones)
    for batch in batches:
        opt_g.zero_grad()
        generator(batch).mean().backward()
        opt_g.step()
        opt_d.zero_grad()
        discriminator(batch).mean().backward()
        opt_d.step()
        sched_g.step()
        sched_d.step()
