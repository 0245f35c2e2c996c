from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, batches):
    model = DDP(net)
    for batch in batches:
        loss = model.module.loss(batch)
        loss.backward()
