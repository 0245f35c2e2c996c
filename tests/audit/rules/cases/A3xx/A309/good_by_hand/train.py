"""Gradients are taken away by hand."""
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    for p in model.parameters():
        p.grad = None
    model(torch.randn(8, 4)).mean().backward()
    optimizer.step()
