import torch
from torch.nn import functional as F

from .comm import concat_all_gather


def contrastive(pts_feat, text_feat, scale, distributed=True):
    if distributed:
        pts_feat, text_feat = concat_all_gather(pts_feat), concat_all_gather(text_feat)
    logits = scale * pts_feat @ text_feat.t()
    target = torch.arange(len(logits))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
