import torch
import torch.nn.functional as F


def pad_batch(seqs, pad):
    n = max(map(len, seqs))
    out = torch.full((len(seqs), n), pad, dtype=torch.long)
    for i, s in enumerate(seqs):
        out[i, : len(s)] = torch.tensor(s)
    return out


def main(model, batches, opt):
    for seqs in batches:
        ids = pad_batch(seqs, 0)
        labels = ids.clone()
        logits = model(ids)
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)), labels[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
