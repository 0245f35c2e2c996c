import torch
import torch.distributed as dist

from groups import ExpertSaver, Topology
from moe import Layer, reduce_gradients


def warm(model):
    for p in model.parameters():
        dist.broadcast(p.data, 0)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = torch.nn.Sequential(Layer(16), Layer(16))
    topology = Topology()
    save = ExpertSaver(topology, every=8)
    warm(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(1, 21):
        x = torch.randn(8, 16)
        loss = (model(x) - x.flip(1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        reduce_gradients(model, topology)
        optimizer.step()
        save(model, step)
    if dist.get_rank() == 0:
        print("loss", loss.item())
    dist.destroy_process_group()


main()
