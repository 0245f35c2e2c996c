from loader import Collator, DataCollator, as_dict
from torch.nn.functional import cross_entropy


def train(model, loader, optimizer):
    for batch in loader:
        out = model(batch.x)[: batch.batch_size]
        loss = cross_entropy(out, batch.y[: batch.batch_size])
        loss.backward()
        optimizer.step()


def test(model, loader):
    for data in loader:
        out = model(data.x)
        print(out[: data.num_seeds].argmax(-1))


def rows(seeds, sampled, x):
    batch = as_dict(seeds, sampled, x)
    return batch["rows"][: batch["count"]]


LOADERS = (Collator, DataCollator)
