import torch
import torch.distributed as dist
import torch.nn.functional as F
from exchange import of_all_ranks
from torch import nn


class PairLoss(nn.Module):
    def forward(self, sound, words, scale):
        every_sound, every_words = of_all_ranks([sound, words])
        wanted = dist.get_rank() * len(sound) + torch.arange(len(sound))
        to_words = scale * sound @ every_words.t()
        to_sound = scale * words @ every_sound.t()
        return F.cross_entropy(to_words, wanted) + F.cross_entropy(to_sound, wanted)


def train(model, loader, optimizer):
    criterion = PairLoss()
    for sound, words in loader:
        loss = criterion(*model(sound, words), 10.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


dist.init_process_group("gloo")
