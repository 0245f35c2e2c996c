import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.stateful import Stateful


class AppState(Stateful):
    def __init__(self, net, optim):
        self.net, self.optim = net, optim

    def state_dict(self):
        return {"net": self.net.state_dict(), "optim": self.optim.state_dict()}

    def load_state_dict(self, state):
        self.net.load_state_dict(state["net"])
        self.optim.load_state_dict(state["optim"])


def main():
    dist.init_process_group("nccl")
    net = torch.nn.Linear(8, 8)
    optim = torch.optim.Adam(net.parameters())
    dcp.load({"app": AppState(net, optim)}, checkpoint_id="last")
    for x in torch.load("data.pt"):
        net(x).mean().backward()
        optim.step()
        optim.zero_grad()
    dcp.save({"app": AppState(net, optim)}, checkpoint_id="last")


if __name__ == "__main__":
    main()
