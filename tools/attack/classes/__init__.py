"""All classes of attacks, in the order in which a short run takes them."""
from . import chains, inputs, json, kills, limits, links, misuse, names, options, paths, signals

ALL = [inputs.ATTACK, options.ATTACK, paths.ATTACK, links.ATTACK, json.ATTACK, names.ATTACK, chains.ATTACK, limits.ATTACK, misuse.ATTACK,
       signals.ATTACK, kills.ATTACK]
