import torch

# what one replay update reports
OBJECTIVE_KEYS = {
    "loss",
    "error_by_horizon",
    "clearance_by_agent",
    "reward_histogram",
    "weight_by_scene",
    "bc_loss_by_feature",
}


def evaluate_objectives(cfg, trajectory, reward, expert, advantage):
    error = (trajectory - expert).square()
    weights = torch.softmax(advantage, dim=0)
    loss = (weights[:, None] * error).sum() / cfg.horizon + (reward - advantage).square().mean()
    values = {
        "loss": loss,
        "error_by_horizon": error.mean(dim=0),
        "clearance_by_agent": error.flatten()[: cfg.agents].sqrt(),
        "reward_histogram": torch.histc(reward, bins=cfg.bins, min=-2, max=2),
        "weight_by_scene": weights,
        "bc_loss_by_feature": error[:, : cfg.features].mean(dim=0),
    }
    return loss, values


class Accumulator:
    def __init__(self):
        self.sums, self.count = {}, 0

    def add(self, values):
        for key in OBJECTIVE_KEYS:
            value = values[key].detach().reshape(-1)
            self.sums[key] = self.sums[key] + value if key in self.sums else value.clone()
        self.count += 1

    def averages(self):
        return {key: value / self.count for key, value in self.sums.items()}
