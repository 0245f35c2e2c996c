import torch


class NoAnchors(RuntimeError):
    pass


class AnchorPicker:
    def __init__(self, block, per_seq):
        self.block, self.per_seq = block, per_seq

    def __call__(self, lengths, generator):
        room = lengths - self.block
        ok = room > 0
        if not bool(ok.any()):
            raise NoAnchors(f"lengths up to {int(lengths.max())}")
        rows = ok.nonzero().squeeze(1).repeat_interleave(self.per_seq)
        frac = torch.rand(len(rows), generator=generator)
        return rows, (frac * room[rows]).long()
