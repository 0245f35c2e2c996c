import torch


@torch.no_grad()
def follow(teacher, student, momentum):
    for old, new in zip(teacher.parameters(), teacher.parameters()):
        old.mul_(momentum).add_(new, alpha=1 - momentum)
    for old, new in zip(teacher.buffers(), student.buffers()):
        old.copy_(new)
