import torch
from torch import nn

from graph import GraphConv, make_graph
from runtime.session import Session


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphConv(6, 12), GraphConv(12, 6)

    def forward(self, x, edges):
        return self.second(self.first(x, edges).relu(), edges)


def main():
    with Session() as session:
        torch.manual_seed(0)
        net = nn.parallel.DistributedDataParallel(Net())
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        for step in range(30):
            x, edges = make_graph(1000 * session.rank + step)
            loss = (net(x, edges) - x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean = session.mean(loss.detach())
            if session.rank == 0 and step % 5 == 0:
                print(step, round(mean.item(), 4), flush=True)


if __name__ == "__main__":
    main()
