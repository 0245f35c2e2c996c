import torch
import torch.nn.functional as F

from parallel import average_gradients, sync_weights


class Learner:
    def __init__(self, model, lr, max_norm=1.0):
        sync_weights(model)
        self.model = model
        self.max_norm = max_norm
        self.params = model.parameters()
        self.optimizer = torch.optim.SGD(self.params, lr=lr, momentum=0.9)

    def update(self, tokens, target):
        loss = F.cross_entropy(self.model(tokens), target)
        self.optimizer.zero_grad()
        loss.backward()
        average_gradients(self.params)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()
        return loss.item()
