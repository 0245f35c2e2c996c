class GradualUnfreeze:
    """Thaws the groups of a backbone from the top, one every `every` epochs."""

    def __init__(self, groups, every=2):
        self.groups = list(groups)
        self.every = every
        for group in self.groups:
            group.requires_grad_(False)

    def on_epoch(self, epoch):
        if epoch and epoch % self.every == 0 and self.groups:
            self.groups.pop().requires_grad_(True)
            return True
        return False
