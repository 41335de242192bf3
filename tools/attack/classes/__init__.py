"""All classes of attacks, in the order in which a short run takes them."""
from . import chains, ellipsoids, inputs, json, kills, limits, links, names, options, paths, signals

ALL = [inputs.ATTACK, options.ATTACK, paths.ATTACK, links.ATTACK, json.ATTACK, names.ATTACK, chains.ATTACK, ellipsoids.ATTACK,
       limits.ATTACK, signals.ATTACK, kills.ATTACK]
