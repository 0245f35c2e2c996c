import torch
import torch.distributed as dist


class PredictionStore:
    """Keeps what inference produced, in the order of the images."""

    def __init__(self):
        self.entries = []

    def extend(self, batch, output):
        self.entries.append((batch["index"], batch["polygon"], output))

    def summarize(self):
        errors = [(out - target).abs().mean() for _, target, out in self.entries]
        total = torch.stack([torch.stack(errors).sum(), torch.tensor(float(len(errors)))])
        dist.all_reduce(total)
        return (total[0] / total[1]).item()


@torch.no_grad()
def compute_on_dataset(model, loader):
    model.eval()
    store = PredictionStore()
    for batch in loader:
        store.extend(batch, model(batch["features"]))
    return store


def inference(model, loader):
    return compute_on_dataset(model, loader).summarize()
