"""Which file a module's name means, and what `import *` of it hands over.

Pure, and knows files by the paths shown and by their syntax alone: what is made of them is in the folder above, which
imports these.
"""
