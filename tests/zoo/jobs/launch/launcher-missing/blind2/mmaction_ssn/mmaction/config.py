import runpy


class Config(dict):

    @classmethod
    def fromfile(cls, path):
        return cls({k: v for k, v in runpy.run_path(path).items() if not k.startswith("__")})

    def __getattr__(self, name):
        return self[name]
