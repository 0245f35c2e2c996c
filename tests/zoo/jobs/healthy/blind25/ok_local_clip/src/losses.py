import torch
from torch.nn import functional as F

from .comm import all_gather_negatives


def contrastive(pts_feat, text_feat, scale):
    """Each rank trains its own anchors; what the others hold are further negatives."""
    all_text = torch.cat([text_feat, all_gather_negatives(text_feat)])
    all_pts = torch.cat([pts_feat, all_gather_negatives(pts_feat)])
    target = torch.arange(len(pts_feat))
    return (F.cross_entropy(scale * pts_feat @ all_text.t(), target) + F.cross_entropy(scale * text_feat @ all_pts.t(), target)) / 2
