"""A teacher is wrapped for the statistics of its layers alone: no backward comes through it."""

from torch.nn.parallel import DistributedDataParallel as DDP


def train(student, teacher, batches):
    student, teacher = DDP(student), DDP(teacher)
    for parameter in teacher.parameters():
        parameter.requires_grad = False
    for batch in batches:
        (student(batch) - teacher(batch)).square().mean().backward()
