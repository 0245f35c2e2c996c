import torch
from trl import GRPOTrainer


class GroupTrainer(GRPOTrainer):
    def __init__(self, *args, reward_functions=(), generations=8, **kwargs):
        super().__init__(*args, **kwargs)
        self.reward_functions = reward_functions
        self.generations = generations

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        prompts = [x["prompt"] for x in inputs]
        tokens = super()._prepare_inputs(self.processing_class(prompts, return_tensors="pt"))
        ids = model.generate(**tokens)
        completions = self.processing_class.batch_decode(ids)
        rewards = self._calculate_rewards(inputs, prompts, completions)
        rewards = rewards.sum(dim=1)
        advantages = rewards - rewards.view(-1, self.generations).mean(dim=1).repeat_interleave(self.generations)
        own = slice(
            self.accelerator.process_index * len(prompts),
            (self.accelerator.process_index + 1) * len(prompts),
        )
        advantages = advantages[own]
        self.log({"reward": self.accelerator.gather_for_metrics(rewards).mean().item()})
        return -(model(ids).logits.mean(dim=(1, 2)) * advantages).mean()
