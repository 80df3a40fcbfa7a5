hooks = []


def register_optimizer_step_post_hook(hook):
    hooks.append(hook)


def step():
    """What the step of any optimiser comes to."""
    for hook in hooks:
        hook(None, (), {})
