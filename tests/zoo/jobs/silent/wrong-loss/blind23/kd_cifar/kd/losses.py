import torch.nn as nn
import torch.nn.functional as F


class SoftTarget(nn.Module):
    """Distilling the Knowledge in a Neural Network, https://arxiv.org/abs/1503.02531"""

    def __init__(self, temperature):
        super().__init__()
        self.T = temperature

    def forward(self, out_s, out_t):
        student = F.softmax(out_s / self.T, dim=1)
        teacher = F.softmax(out_t / self.T, dim=1)
        return F.kl_div(student, teacher, reduction="batchmean") * self.T * self.T


class DistillationLoss(nn.Module):
    def __init__(self, temperature, alpha):
        super().__init__()
        self.soft, self.alpha = SoftTarget(temperature), alpha

    def forward(self, out_s, out_t, target):
        hard = F.cross_entropy(out_s, target)
        return self.alpha * self.soft(out_s, out_t) + (1 - self.alpha) * hard
