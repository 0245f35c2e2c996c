import torch
import torch.nn.functional as F


class PoseLoss:
    gains = {"obj": 1.0, "kpt": 2.0}

    def __call__(self, out, batch):
        objectness, keypoints = out
        loss = torch.zeros(2)
        fg_mask = batch["visible"]
        loss[0] = F.binary_cross_entropy_with_logits(objectness, fg_mask.float())
        if fg_mask.sum():
            loss[1] = F.smooth_l1_loss(keypoints[fg_mask], batch["keypoints"][fg_mask])
        loss = loss * torch.tensor(list(self.gains.values()))
        return loss.sum(), loss.detach()
