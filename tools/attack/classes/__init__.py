"""All classes of attacks, in the order in which a short run takes them."""
from . import chains, columns, inputs, json, kills, limits, links, names, options, paths, signals

ALL = [inputs.ATTACK, columns.ATTACK, options.ATTACK, paths.ATTACK, links.ATTACK, json.ATTACK, names.ATTACK, chains.ATTACK,
       limits.ATTACK, signals.ATTACK, kills.ATTACK]
