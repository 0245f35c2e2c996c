from dataclasses import dataclass


@dataclass
class FinetuneArgs:
    steps: int = 60
    batch: int = 8
    lr: float = 3e-3
    freeze_embeddings: bool = True
    gradient_checkpointing: bool = True


def prepare_model(model, args):
    if args.freeze_embeddings:
        for module in (model.tok, model.pos):
            module.requires_grad_(False)
    if args.gradient_checkpointing:
        model.gradient_checkpointing = True
    return model, [p for p in model.parameters() if p.requires_grad]
