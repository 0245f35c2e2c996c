import time


def draw(module):
    time.sleep(0.5)
    import picture_backend
    picture_backend.plot(module)
