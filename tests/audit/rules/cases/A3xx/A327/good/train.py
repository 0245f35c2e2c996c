import torch
from torch import nn


class Teacher(nn.Module):
    """Its state is that of its shadow, which is no copy of what it loads."""

    def state_dict(self):
        return {name: value.float() for name, value in super().state_dict().items()}


def train(model, target, optimizer, scheduler, teacher: Teacher):
    target.load_state_dict(model.state_dict())
    optimizer.load_state_dict(optimizer.state_dict())  # moves the moments to where the parameters are
    scheduler.load_state_dict(scheduler.state_dict())
    model.load_state_dict({**model.state_dict(), **torch.load("head.pt")})
    model.load_state_dict(model.state_dict(), assign=True)
    teacher = Teacher()
    teacher.load_state_dict(teacher.state_dict())
    for old, new in zip(target.parameters(), model.parameters()):
        old.data.copy_(new.data)
    for one, other in zip(model.parameters(), model.parameters()):
        assert one is other
