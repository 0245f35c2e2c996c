def watched(model, wanted, inputs):
    for name, module in model.named_modules():
        if name == wanted:
            handle = module.register_forward_hook(print)
            break
    out = model(inputs)
    handle.remove()
    return out
