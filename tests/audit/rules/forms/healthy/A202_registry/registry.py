HANDLERS = {}


def register(name):
    def wrap(function):
        HANDLERS[name] = function
        return function

    return wrap
