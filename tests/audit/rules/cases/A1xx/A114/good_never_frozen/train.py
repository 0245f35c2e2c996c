from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, optimizer):
    model = DDP(net)
    model.module.requires_grad_(True)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
