from . import optimizer
