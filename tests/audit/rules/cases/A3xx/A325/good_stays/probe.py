def counted(model, names, count):
    handle = None
    for block in model.blocks:
        block.handle = block.register_forward_hook(count)
        handle = block.register_full_backward_hook(count)
        names[handle] = block
    handle.remove()
