import torch.nn as nn
import torch.nn.functional as F


class DistillationLoss(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, student, teacher):
        t = self.temperature
        student_out = F.softmax(student / t, dim=1)
        teacher_out = F.softmax(teacher / t, dim=1)
        return F.kl_div(student_out, teacher_out, reduction="batchmean") * t * t
