"""All classes of attacks, in the order in which a short run takes them."""
from . import chains, inputs, json, kills, limits, links, names, options, paths, planted, secrets, signals, streams

ALL = [inputs.ATTACK, options.ATTACK, paths.ATTACK, links.ATTACK, json.ATTACK, names.ATTACK, chains.ATTACK, limits.ATTACK,
       signals.ATTACK, kills.ATTACK, streams.ATTACK, secrets.ATTACK, planted.ATTACK]
