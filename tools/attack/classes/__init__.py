"""All classes of attacks, in the order in which a short run takes them."""
from . import inputs, options

ALL = [inputs.ATTACK, options.ATTACK]
