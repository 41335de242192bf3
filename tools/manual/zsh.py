"""Completion of zsh."""
from words import choices, families, named, positionals, short, takes_file, takes_list


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def described(text):
    """Returns a description inside the brackets of a specification of _arguments."""
    return short(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def value(option):
    """Returns the part of a specification that tells what an option or argument takes."""
    kind = option["kind"].replace(":", " ").replace("|", " ") or "value"
    words, name = " ".join(choices(option)), option["name"].lower()
    if words:
        action = f"_values -s , {name} {words}" if takes_list(option) else f"({words})"
        if takes_file(option):
            colon = ":" if option["positional"] else "\\:"  # a plain colon ends the action of an option
            action = f'_alternative "words{colon}word{colon}{action}" "files{colon}file{colon}_files"'
        return f":{name}:{action}"
    return f":{kind.lower()}:_files" if takes_file(option) else f":{kind.lower()}: "


def of_verb(verb):
    specs = []
    for o in named(verb):
        text = f"[{described(o['help'])}]" + ("" if o["flag"] else value(o))
        if o["letter"]:
            specs.append(f"'(--{o['name']} -{o['letter']})'" + "{-" + o["letter"] + ",--" + o["name"] + "}" + quoted(text))
        else:
            specs.append(quoted(f"--{o['name']}" + ("" if o["flag"] else "=") + text))
    for o in positionals(verb):
        specs.append(quoted(("*" if o["list"] else "") + value(o)))
    specs.append(quoted("(-h --help)--help[show the help of this verb]"))
    lines = " \\\n        ".join(specs)
    return f"    {quoted(verb['name'])})\n      _arguments -S \\\n        {lines}\n      ;;\n"


def completion(verbs):
    """Returns the script."""
    of_families = families(verbs)
    firsts = []
    for first, seconds in sorted(of_families.items()):
        alone = [v for v in verbs if v["name"] == first]
        firsts.append(f"{first}:{short(alone[0]['summary']) if alone else ' '.join(sorted(seconds))}".replace("'", ""))
    out = "#compdef merganser\n# Completion of merganser for zsh, generated from its options.\n"
    out += "_merganser() {\n  local -a firsts=(" + "".join(f"\n    {quoted(f)}" for f in firsts) + "\n  )\n"
    out += "  if (( CURRENT == 2 )); then\n    _describe verb firsts\n    return\n  fi\n  local verb=$words[2]\n  case $verb in\n"
    for first, seconds in sorted(of_families.items()):
        if seconds:
            out += (f"    {first})\n      if (( CURRENT == 3 )); then\n        compadd {' '.join(sorted(seconds))}\n"
                    "        return\n      fi\n"
                    "      verb=\"$verb $words[3]\"\n      shift words\n      (( CURRENT-- ))\n      ;;\n")
    # What follows "run --" is another command line.
    out += ("    run)\n      local at=$words[(i)--]\n      if (( at < CURRENT )); then\n"
            "        words=(merganser ${words[at+1,-1]})\n"
            "        (( CURRENT -= at - 1 ))\n        _merganser\n        return\n      fi\n      ;;\n")
    out += "  esac\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n"
    out += "".join(of_verb(v) for v in sorted(verbs, key=lambda v: v["name"]))
    return out + "  esac\n}\n_merganser \"$@\"\n"
