import copy

import torch
from torch import nn


def build():
    student = nn.Linear(8, 8)
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    return student, teacher


@torch.no_grad()
def update_teacher(teacher, student, decay):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(decay).add_(s, alpha=1 - decay)


def main():
    student, teacher = build()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    for step in range(100):
        x = torch.randn(4, 8)
        loss = (student(x) - teacher(x + 0.1).detach()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_teacher(teacher, student, 0.99)


main()
