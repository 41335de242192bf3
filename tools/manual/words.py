"""What all shells complete: the verbs, the options of each, and what each option takes."""
import re


def families(verbs):
    """Returns {first word: second words} of the verbs; the list of a verb of one word is empty."""
    out = {}
    for verb in verbs:
        first, *second = verb["name"].split()
        out.setdefault(first, []).extend(second)
    return out


def named(verb):
    """Returns the options of a verb that --help shows."""
    return [o for o in verb["options"] if not o["positional"] and not o["hidden"]]


def positionals(verb):
    return [o for o in verb["options"] if o["positional"] and not o["hidden"]]


def choices(option):
    """Returns the words that an option or argument takes, or each value of its list: those that the program knows, or those that
    its metavariable lists ("threads|p2p"); else an empty list."""
    if option["words"]:
        return option["words"]
    words = option["kind"].split("|")
    return words if len(words) > 1 and all(re.fullmatch(r"[a-z0-9][\w.-]*", word) for word in words) else []


def takes_list(option):
    """Returns whether the value of an option is a list with commas."""
    return isinstance(option["default"], list) and not option["positional"]


def takes_file(option):
    return bool(option["file"])


def short(text):
    """Returns the first part of a help text, for a list of options with a line each."""
    return re.split(r"[;:(\[]", text)[0].strip()[:90]
