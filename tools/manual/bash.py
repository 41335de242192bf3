"""Completion of bash, which needs no other package."""
from words import choices, families, named, positionals, takes_file, takes_list

HEAD = """\
# Completion of merganser for bash, generated from its options. Installed where bash-completion looks; or: . merganser.bash
_merganser() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb="" family="" i=1 word
  local options="" values="" files="" list="" after="" before=""
  # bash takes --name=value apart.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    # "run" starts another verb.
    if [[ $verb == run && ($word == -- || " $_merganser_firsts " == *" $word "*) ]]; then
      verb="" after=run
      [[ $word != -- ]] || word=""
    elif [[ $word == -- ]]; then
      return
    fi
    if [[ -n $word && -z $verb ]]; then
      if [[ -n $family ]]; then
        verb="$family $word" family=""
      elif [[ " $_merganser_pairs " == *" $word "* ]]; then
        family=$word
      else
        verb=$word
      fi
    fi
    ((i++))
  done
  if [[ -z $verb && -z $family ]]; then
    [[ -n $after ]] || options=" --help --version"
    mapfile -t COMPREPLY < <(compgen -W "$_merganser_firsts$options" -- "$cur")
    return
  fi
  if [[ -n $family ]]; then
    case $family in
"""

MIDDLE = """\
    esac
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
    return
  fi
  _merganser_verb "$verb" "$prev"
  if [[ $values == "-" ]]; then
    COMPREPLY=() # a value that only the user knows
  elif [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ -n $list ]]; then
    [[ $cur != *,* ]] || before=${cur%,*},
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "${cur##*,}")
    [[ -z $before ]] || files=""
  elif [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
  elif [[ -n $files ]]; then
    COMPREPLY=()
  elif [[ $verb == run ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_merganser_firsts" -- "$cur")
  fi
  if [[ -n $files && $values != "-" && $cur != -* ]]; then # beside words, if any: names are quoted, folders end with a slash
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
  fi
}

# _merganser_verb VERB WORD: sets `options` of a verb, and what follows the word before the cursor: `values` (-: unknown), `files`,
# or both; `list` if the values are separated by commas.
_merganser_verb() {
  case $1 in
"""


def names(option):
    return [f"--{option['name']}", *([f"-{option['letter']}"] if option["letter"] else [])]


def proposed(option):
    """Returns the assignments that tell what the value of an option may be; empty if only the user knows."""
    words = choices(option)
    parts = [f'values="{" ".join(words)}"'] if words else []
    parts += ["files=1"] * takes_file(option) + ["list=1"] * (bool(words) and takes_list(option))
    return " ".join(parts)


def of_verb(verb):
    options = [o for o in named(verb)]
    out = f"    \"{verb['name']}\")\n      options=\"{' '.join(f'--' + o['name'] for o in options)} --help\"\n"
    cases = {}
    for o in options:
        if o["flag"]:
            continue
        what = proposed(o) or "values=-"
        cases.setdefault(what, []).extend(names(o))
    arguments = positionals(verb)
    words = [word for o in arguments for word in choices(o)]
    rest = [f'values="{" ".join(words)}"'] if words else []
    rest = " ".join(rest + ["files=1"] * any(takes_file(o) for o in arguments)) or ":"
    out += "      case $2 in\n" + "".join(f"        {' | '.join(words)}) {what} ;;\n" for what, words in cases.items())
    return out + f"        *) {rest} ;;\n      esac\n      ;;\n"


def completion(verbs):
    """Returns the script."""
    of_families = families(verbs)
    pairs = {first: seconds for first, seconds in of_families.items() if seconds}
    out = HEAD
    out += "".join(f"      {first}) values=\"{' '.join(sorted(seconds))}\" ;;\n" for first, seconds in sorted(pairs.items()))
    out += MIDDLE + "".join(of_verb(v) for v in sorted(verbs, key=lambda v: v["name"])) + "    *) values=- ;;\n  esac\n}\n\n"
    return (out + f"_merganser_firsts=\"{' '.join(sorted([*of_families, 'help']))}\"\n_merganser_pairs=\"{' '.join(sorted(pairs))}\"\n"
            "complete -F _merganser merganser\n")
