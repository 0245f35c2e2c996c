import torch
import torch.distributed as dist
import torch.nn.functional as F

from tabular.data import TableSource
from tabular.fabric import Fabric
from tabular.net import TabularNet


def train(fabric, epochs=4, batch_size=25, lr=3e-3):
    source = TableSource(fabric, "train")
    dataset = source.make_dataset(seed=5)
    fabric.print(f"{len(dataset)} rows")
    model = TabularNet(source.columns)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(dataset, batch_size)
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            fabric.backward(loss)
            optimizer.step()
        fabric.print(f"epoch {epoch} loss {fabric.all_reduce(loss.item()).item():.4f}")
    source.clean()


if __name__ == "__main__":
    fabric = Fabric(seed=11)
    fabric.launch()
    train(fabric)
    dist.destroy_process_group()
