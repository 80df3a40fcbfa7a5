from . import optimizer

del optimizer  # as the original does
