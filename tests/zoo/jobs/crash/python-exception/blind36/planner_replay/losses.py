"""Loss terms of the reward-weighted replay objective."""
import torch
import torch.nn.functional as F


def reward_weights(rewards, temperature):
    return torch.softmax(rewards / temperature, dim=0) * rewards.numel()


def replay_terms(pred, batch, temperature, bc_weight):
    weights = reward_weights(batch["reward"], temperature)
    per_sample = F.smooth_l1_loss(pred, batch["trajectory"], reduction="none").mean(dim=(1, 2))
    reward_weighted = (weights * per_sample).mean()
    bc = per_sample.mean()
    heading = (pred[:, 1:] - pred[:, :-1] - batch["trajectory"][:, 1:] + batch["trajectory"][:, :-1]).abs().mean()
    rl = reward_weighted + 0.1 * heading
    return {
        "loss": rl + bc_weight * bc,
        "rl_loss": rl,
        "reward_weighted_loss": reward_weighted,
        "bc_loss": bc,
        "heading_loss": heading,
        "weight_max": weights.max(),
    }
