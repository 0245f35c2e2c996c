def freeze(model, keep):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith(keep))
