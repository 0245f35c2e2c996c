import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


def all_gather_batch(tensors):
    """Concatenate each tensor over all processes, in the order of the ranks."""
    out = []
    for t in tensors:
        t = t.contiguous()
        parts = [torch.empty_like(t) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, t)
        out.append(torch.cat(parts, dim=0))
    return out


class ContrastiveLoss(nn.Module):
    """Symmetric InfoNCE of the local pairs against the pairs of all processes."""

    def __init__(self):
        super().__init__()
        self.labels, self.last_local = None, None

    def forward(self, image_embed, text_embed, logit_scale):
        local = image_embed.size(0)
        if local != self.last_local:
            self.labels = local * dist.get_rank() + torch.arange(local)
            self.last_local = local
        image_all, text_all = all_gather_batch([image_embed, text_embed])
        logits_per_image = logit_scale * image_embed @ text_all.t()
        logits_per_text = logit_scale * text_embed @ image_all.t()
        loss = (F.cross_entropy(logits_per_image, self.labels) + F.cross_entropy(logits_per_text, self.labels)) / 2
        with torch.no_grad():
            acc = (logits_per_image.argmax(-1) == self.labels).float().mean()
        return {"loss": loss, "acc": acc}
