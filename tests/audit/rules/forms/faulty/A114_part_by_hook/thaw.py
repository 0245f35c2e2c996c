class Thaw:
    def before_epoch(self, number, learner):
        if number == 5:
            weights = list(learner.trunk.parameters())
            for one in weights:
                one.requires_grad_(True)  # cause
            learner.opt.add_param_group({"params": weights})
