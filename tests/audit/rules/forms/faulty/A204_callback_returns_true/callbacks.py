class Callback:
    def after_step(self, state):
        return False


class NanGuard(Callback):
    def after_step(self, state):
        return bool(state["loss"].isnan())
