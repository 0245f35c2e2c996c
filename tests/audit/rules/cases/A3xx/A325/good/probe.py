def recorded(model, inputs, seen):
    handles = []
    for block in model.blocks:
        handle = block.register_forward_hook(lambda module, given, out: seen.append(out))
        handles.append(handle)
    out = model(inputs)
    for handle in handles:
        handle.remove()
    return out
