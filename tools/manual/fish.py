"""Completion of fish."""
from words import choices, families, named, positionals, short, takes_file, takes_list

HEAD = """\
# Completion of merganser for fish, generated from its options.
function __merganser_verb
    set -l words (commandline -opc)[2..-1]
    # What run starts is another command line. (Behind "--" fish itself completes no options.)
    if test "$words[1]" = run
        for at in (seq 2 (count $words))
            if contains -- "$words[$at]" FIRSTS
                set words $words[$at..-1]
                break
            end
        end
    end
    if contains -- "$words[1]" PAIRS
        echo -- "$words[1] $words[2]"
    else
        echo -- "$words[1]"
    end
end
function __merganser_is
    test (__merganser_verb) = "$argv[1]"
end
complete -c merganser -f
"""


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def completion(verbs):
    """Returns the script."""
    of_families = families(verbs)
    pairs = {first: seconds for first, seconds in of_families.items() if seconds}
    out = HEAD.replace("PAIRS", " ".join(sorted(pairs))).replace("FIRSTS", " ".join(sorted(of_families)))
    for first, seconds in sorted(of_families.items()):
        alone = [v for v in verbs if v["name"] == first]
        text = short(alone[0]["summary"]) if alone else "verbs: " + " ".join(sorted(seconds))
        out += f"complete -c merganser -n '__merganser_is \"\"' -a {first} -d {quoted(text)}\n"
        for second in sorted(seconds):
            verb = next(v for v in verbs if v["name"] == f"{first} {second}")
            out += f"complete -c merganser -n '__merganser_is \"{first} \"' -a {second} -d {quoted(short(verb['summary']))}\n"
    for verb in sorted(verbs, key=lambda v: v["name"]):
        for o in named(verb):
            out += f"complete -c merganser -n '__merganser_is \"{verb['name']}\"' -l {o['name']}"
            out += f" -s {o['letter']}" if o["letter"] else ""
            if choices(o):
                words = " ".join(choices(o))
                out += " -r -F" if takes_file(o) else " -x"
                out += f" -a {quoted(f'(__fish_append , {words})' if takes_list(o) else words)}"
            elif not o["flag"]:
                out += " -r -F" if takes_file(o) else " -x"
            out += f" -d {quoted(short(o['help']))}\n"
        words = [word for o in positionals(verb) for word in choices(o)]
        if words:
            out += f"complete -c merganser -n '__merganser_is \"{verb['name']}\"' -a {quoted(' '.join(words))}\n"
        if any(takes_file(o) for o in positionals(verb)):
            out += f"complete -c merganser -n '__merganser_is \"{verb['name']}\"' -F\n"
    return out
