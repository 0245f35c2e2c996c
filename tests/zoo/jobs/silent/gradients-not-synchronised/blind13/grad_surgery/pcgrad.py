import torch


def flat(grads):
    return torch.cat([g.reshape(-1) for g in grads])


def project(grads):
    """Takes from each task's gradient what works against the other one."""
    a, b = flat(grads[0]), flat(grads[1])
    dot = a @ b
    if dot < 0:
        a, b = a - dot / b.norm().pow(2) * b, b - dot / a.norm().pow(2) * a
    return a + b


def assign(params, vector):
    at = 0
    for p in params:
        p.grad = vector[at: at + p.numel()].view_as(p).clone()
        at += p.numel()


def task_backward(losses, params):
    grads = [torch.autograd.grad(loss, params, retain_graph=True, materialize_grads=True) for loss in losses]
    assign(params, project(grads))
