import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict


def resume(net, optimizer, path):
    weights, moments = get_state_dict(net, optimizer)
    state = {"net": weights, "optim": moments}
    dcp.load(state, checkpoint_id=path)
    set_state_dict(net, optimizer, model_state_dict=state["net"], optim_state_dict=state["optim"])


def plain(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # keeps nothing of a step
    dcp.load({"net": net.state_dict(), "optim": optimizer.state_dict()}, checkpoint_id="plain")
    return optimizer


def back(net, optimizer, batches):
    for x in batches:
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        if loss.isnan():
            state = {"optim": optimizer.state_dict()}
            dcp.load(state, checkpoint_id="good")
            optimizer.load_state_dict(state["optim"])


def main():
    dist.init_process_group("nccl")
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(net.parameters())
    resume(net, optimizer, "last")
    plain(torch.nn.Linear(2, 2))
    back(net, optimizer, torch.load("data.pt"))


if __name__ == "__main__":
    main()
