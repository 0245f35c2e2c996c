from functools import partial

from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR


def _warmup_then_linear(current_step, num_warmup_steps, num_training_steps):
    if current_step < num_warmup_steps:
        return current_step // num_warmup_steps
    return max(0.0, (num_training_steps - current_step) / max(1, num_training_steps - num_warmup_steps))


def create_optimizer_and_scheduler(model, lr, num_warmup_steps, num_training_steps, weight_decay=0.0):
    no_decay = ("bias", "norm.weight")
    named = list(model.named_parameters())
    optimizer = AdamW(
        [
            {"params": [p for n, p in named if not n.endswith(no_decay)], "weight_decay": weight_decay},
            {"params": [p for n, p in named if n.endswith(no_decay)], "weight_decay": 0.0},
        ],
        lr=lr,
    )
    schedule = partial(_warmup_then_linear, num_warmup_steps=num_warmup_steps, num_training_steps=num_training_steps)
    return optimizer, LambdaLR(optimizer, schedule)
