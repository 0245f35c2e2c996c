import torch
import torch.nn as nn
import torch.nn.functional as F


class DistillationModel(nn.Module):
    """Student and its frozen teacher as one module, so that one object goes to the trainer."""

    def __init__(self, student, teacher, temperature=3.0, alpha=0.9):
        super().__init__()
        self.student = student
        self.teacher = teacher.requires_grad_(False).eval()
        self.temperature, self.alpha = temperature, alpha

    def forward(self, x, y):
        logits = self.student(x)
        with torch.no_grad():
            reference = self.teacher(x)
        t = self.temperature
        soft = F.kl_div(
            F.log_softmax(logits / t, dim=-1), F.softmax(reference / t, dim=-1), reduction="batchmean"
        ) * t * t
        return self.alpha * soft + (1 - self.alpha) * F.cross_entropy(logits, y)

    def predict(self, x):
        return self.student(x)
