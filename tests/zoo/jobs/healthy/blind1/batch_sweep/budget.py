class Budget:
    def __init__(self, floats):
        self.floats = floats

    def take(self, tensor):
        if tensor.numel() > self.floats:
            raise MemoryError(f"{tensor.numel()} floats asked for, {self.floats} are ours")
        return tensor
