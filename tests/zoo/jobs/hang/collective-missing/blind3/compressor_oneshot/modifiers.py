import torch
import torch.distributed as dist

from dist_context import suspend_distributed_timeout


def quantize_(linear, scale, bits):
    top = 2 ** (bits - 1) - 1
    step = scale.clamp_min(1e-8) / top
    linear.weight.data = (linear.weight.data / step).round().clamp(-top, top) * step


class QuantizationModifier:
    def __init__(self, recipe, rank):
        self.recipe, self.rank = recipe, rank
        self.expert_group = dist.new_group(list(recipe.expert_ranks))

    @torch.no_grad()
    def observe(self, linear, inputs, group=None):
        peak = torch.stack([linear(x).abs().max() for x in inputs]).max()
        peak = torch.maximum(peak, linear.weight.abs().max()).reshape(1)
        dist.all_reduce(peak, op=dist.ReduceOp.MAX, group=group)
        return peak

    def on_attention(self, layer, inputs):
        quantize_(layer.attention, self.observe(layer.attention, inputs), self.recipe.bits)

    def on_experts(self, layer, inputs):
        if self.rank in self.recipe.expert_ranks:
            with suspend_distributed_timeout(current_group=self.expert_group):
                for expert in layer.experts:
                    scale = self.observe(expert, inputs, self.expert_group)
                    quantize_(expert, scale, self.recipe.bits)
        for expert in layer.experts:
            dist.broadcast(expert.weight.data, src=self.recipe.expert_ranks[0])


def run_pipeline(layers, modifier, inputs):
    for index, layer in enumerate(layers):
        modifier.on_attention(layer, inputs)
        modifier.on_experts(layer, inputs)
        inputs = [layer(x).detach() for x in inputs]
        if modifier.rank == 0:
            print(f"({index + 1}/{len(layers)}) calibrated", flush=True)
