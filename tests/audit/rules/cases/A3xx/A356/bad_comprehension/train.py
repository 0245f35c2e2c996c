from torch.optim import SGD

from net import net

backbone = [p for n, p in net.named_parameters() if n.startswith("backbone")]
head = [p for n, p in net.named_parameters() if not n.startswith("backbone")]
optimizer = SGD([{"params": backbone, "lr": 0.001}, {"params": backbone, "lr": 0.01}], lr=0.01)
