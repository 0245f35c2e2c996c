"""Fuses two trained networks by matching their neurons as graphs."""
import torch

from zhijian.models import neurons


def affinity_matrix(model_a, model_b):
    linear_a, off_a = neurons(model_a)
    linear_b, off_b = neurons(model_b)
    n1, n2 = off_a[-1], off_b[-1]
    affinity = torch.zeros([n1 * n2, n1 * n2])
    for layer, (la, lb) in enumerate(zip(linear_a, linear_b)):
        for i in range(la.out_features):
            for j in range(lb.out_features):
                row = (off_a[layer + 1] + i) * n2 + off_b[layer + 1] + j
                distance = (la.weight[i][:, None] - lb.weight[j][None, :]) ** 2
                block = torch.exp(-distance).flatten()
                affinity[row, off_a[layer] * n2 : off_a[layer] * n2 + len(block)] = block
    return affinity, n1, n2


def sinkhorn(scores, tau, iterations):
    log = scores / tau
    for _ in range(iterations):
        log = log - log.logsumexp(0, keepdim=True)
        log = log - log.logsumexp(1, keepdim=True)
    return log.exp()


def graph_matching_fusion(model_a, model_b, cfg):
    K, n1, n2 = affinity_matrix(model_a, model_b)
    match = torch.full((n1 * n2,), 1.0 / (n1 * n2))
    for _ in range(10):
        match = K @ match
        match = match / match.norm()
    plan = sinkhorn(match.view(n1, n2), cfg["sinkhorn_tau"], cfg["iterations"])
    with torch.no_grad():
        for pa, pb in zip(model_a.parameters(), model_b.parameters()):
            pa.add_(pb).div_(2)
    return model_a, plan
