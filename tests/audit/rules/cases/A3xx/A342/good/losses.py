import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.special import kl_div


class DistillationLoss(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature
        self.both_logs = nn.KLDivLoss(reduction="batchmean", log_target=True)
        self.plain = nn.KLDivLoss(reduction="batchmean")
        self.log_softmax = nn.LogSoftmax(dim=1)

    def forward(self, student, teacher):
        t = self.temperature
        student_out = F.log_softmax(student / t, dim=1)
        teacher_out = F.softmax(teacher / t, dim=1)
        return F.kl_div(student_out, teacher_out, reduction="batchmean") * t * t

    def logarithm_of_softmax(self, one, other):
        return F.kl_div((F.softmax(one, dim=1) + 1e-8).log(), F.softmax(other, dim=1), reduction="batchmean")

    def logarithm_by_torch(self, one, other):
        return self.plain(torch.log(torch.softmax(one, 1).clamp(min=1e-8)), torch.softmax(other, 1))

    def of_layer(self, one, other):
        return self.plain(self.log_softmax(one), other.softmax(1))

    def both(self, one, other):
        return self.both_logs(one.log_softmax(-1), other.log_softmax(-1))

    def told_by_argument(self, one, other, logs):
        target = other.log_softmax(-1) if logs else other.softmax(-1)
        return F.kl_div(one.log_softmax(-1), target, reduction="batchmean", log_target=logs)

    def mixture(self, one, other):
        middle = (one.softmax(-1) + other.softmax(-1)) / 2
        return F.kl_div(middle.log(), one.softmax(-1), reduction="batchmean")


def by_hand(one, other):
    p, q = one.softmax(-1), other.softmax(-1)
    return (p * (p.log() - q.log())).sum(-1).mean()


def on_arrays(one, other):
    return kl_div(one.softmax(-1).numpy(), other.softmax(-1).numpy()).sum()
