import torch


def utterances(rank, world, n_items, n_tokens, n_mels, frames, epoch):
    g = torch.Generator().manual_seed(50 + epoch)
    patterns = torch.randn(n_tokens, n_mels, generator=torch.Generator().manual_seed(1))
    order = torch.randperm(n_items, generator=g)[rank::world]
    for i in order.tolist():
        gi = torch.Generator().manual_seed(i)
        text = torch.randint(1, n_tokens, (8,), generator=gi)
        feats = patterns[text].repeat_interleave(frames // 8, 0)
        yield feats + 0.3 * torch.randn(feats.shape, generator=gi), text


def batches(size, **kw):
    feats, texts = [], []
    for f, t in utterances(**kw):
        feats.append(f)
        texts.append(t)
        if len(feats) == size:
            yield torch.stack(feats), torch.stack(texts)
            feats, texts = [], []
