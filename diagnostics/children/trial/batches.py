"""The calls of the steps, one after another: as they are, or through worker processes."""

import torch


def handed_over(calls, workers):
    """Yields the calls; with workers, as a DataLoader's worker processes hand them over."""
    if not workers:
        yield from calls
        return
    yield from torch.utils.data.DataLoader(Calls(calls), batch_size=None, num_workers=workers)


class Calls(torch.utils.data.Dataset):
    """The calls as a dataset of whole batches."""

    def __init__(self, calls):
        self.calls = calls

    def __len__(self):
        return len(self.calls)

    def __getitem__(self, index):
        return self.calls[index]
