"""All classes of attacks, in the order in which a short run takes them."""
from . import (chains, columns, defaults, ellipsoids, inputs, kills, limits, links, missing, misuse, names, options, paths,
               planted, references, secrets, signals, streams)

ALL = [inputs.ATTACK, columns.ATTACK, options.ATTACK, defaults.ATTACK, paths.ATTACK, links.ATTACK, names.ATTACK,
       chains.ATTACK, ellipsoids.ATTACK, missing.ATTACK, references.ATTACK, limits.ATTACK, misuse.ATTACK, streams.ATTACK,
       secrets.ATTACK, planted.ATTACK, signals.ATTACK, kills.ATTACK]
