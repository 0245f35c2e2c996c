import torch.nn.functional as F


class Hinge:
    def critic(self, net, real, fake):
        return F.relu(1 - net(real)).mean() + F.relu(1 + net(fake)).mean()

    def generator(self, net, fake):
        return -net(fake).mean()


class Joint(Hinge):
    def critic(self, net, real, fake):
        import torch
        a, b = net(torch.cat([real, fake])).chunk(2)
        return F.relu(1 - a).mean() + F.relu(1 + b).mean()


REGISTRY = {"hinge": Hinge, "joint": Joint}
