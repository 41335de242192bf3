"""All classes of attacks, in the order in which a short run takes them."""
from . import chains, inputs, json, kills, limits, links, missing, names, options, paths, references, signals

ALL = [inputs.ATTACK, options.ATTACK, paths.ATTACK, links.ATTACK, json.ATTACK, names.ATTACK, chains.ATTACK, limits.ATTACK,
       missing.ATTACK, references.ATTACK, signals.ATTACK, kills.ATTACK]
