"""Attacks by missing values in variables of parcel files, in every form of NetCDF and CF: refused by name or skipped by rule."""
from ..attack import Attack
from ..case import Case, Finding, Part, Recipe

OLD = b"old output\n"
KINDS = ("nan", "unwritten", "fill", "missing_value", "missing_list", "valid_range", "valid_max")
RULES = ("mean", "sum", "centre", "largest")


class Missing(Attack):
    name = "missing"
    text = "missing values (fill, missing_value, valid_range, NaN, never written) are refused by name, or skipped by a rule"

    def make(self, random, world):
        from .. import epic
        own = random.random() < 0.5
        name = random.choice(epic.REQUIRED) if own else "humidity"
        kind = random.choice(KINDS)
        places = sorted(random.sample(range(60), random.choice([1, 1, 2, 20, 59, 60])))
        steps = [] if own else [("extra", "humidity")]
        if not own:
            steps.append(("type", "humidity", random.choice(["f8", "f4"])))
        if random.random() < 0.2:
            steps.append(("format", random.choice(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC"])))
        if random.random() < 0.2:
            steps.append(("options", random.choice([{"zlib": True}, {"fletcher32": True}])))
        steps.append(("lacks", name, kind, places))
        case = Case(what=f"{len(places)} values of {name} missing by {kind}", verb="cluster",
                    files={"work/in.nc": Recipe(epic.build, steps)}, inputs=["work/in.nc"])
        case.data.update(name=name, places=places, steps=steps)
        verb = random.choice(["cluster", "cluster", "cluster", "bench files", "verify", "flow"]) if own else "cluster"
        ranks = [Part(["--ranks", str(random.choice([2, 3]))], True)] if random.random() < 0.5 else []
        if verb == "verify":
            case.parts = [Part(["verify", "--samples", "0", "--comm", "threads", "--ranks", "1,2", "in.nc"])]
        elif verb == "bench files":
            case.parts = [Part(["bench", "files", "in.nc", "--steps", "1"]), *ranks]
        elif verb == "flow":
            case.parts = [Part(["flow", "--restart", "in.nc", "--until", "0.001"])]
            if ranks:
                case.parts.append(Part(["--ranks", "2"], True))  # 4 x 4 cells are not cut in three
        else:
            case.parts = [Part(["cluster", "in.nc", "-o", "out.nc", "--min-volume-ratio", "3"]), *ranks]
            case.files["work/out.nc"], case.outputs = OLD, ["work/out.nc"]
        case.verb = verb
        if not own:
            case.data["skip"] = random.random() < 0.6
            rule = random.choice(RULES) + (",missing=skip" if case.data["skip"] else "")
            case.parts.append(Part(["--attribute", f"humidity:{rule}"]))
            case.data["sum"] = rule.startswith("sum")
        return case

    def check(self, case, result, folder, world):
        if ("lacks", case.data["name"]) not in [s[:2] for s in case.files["work/in.nc"].steps] or not case.files["work/in.nc"].bytes():
            return []  # the shrinker took it away, or the library does not write it
        if not case.data.get("skip"):
            text = result.err.decode(errors="replace")
            if result.code != 3 or f'variable "{case.data["name"]}": {len(case.data["places"])} of 60 value' not in text:
                return [Finding("missing value read", f"exit code {result.code}, must be 3 and name the variable with its "
                                                      f"{len(case.data['places'])} missing values: {text[:300]}")]
            return []
        if result.code != 0:
            return [Finding("skip refused", f"exit code {result.code} with missing=skip: {result.err[:300]!r}")]
        return self.numbers(case, folder) + self.again(case, result, folder, world)

    @staticmethod
    def numbers(case, folder):
        """Returns findings if the output holds a number that the present values of the input cannot give."""
        from .. import epic
        before = epic.present(case.files["work/in.nc"].bytes(), "humidity")
        with open(folder.at("work/out.nc"), "rb") as file:
            after = epic.present(file.read(), "humidity")
        if before is None or after is None:
            return [Finding("unreadable output", "humidity cannot be read")]
        if not before:
            return [Finding("missing value made a number", f"of none came {after[:5]}")] if after else []
        low, high = min(before), max(before)
        if case.data["sum"]:
            low, high = min(low, sum(x for x in before if x < 0)), sum(x for x in before if x > 0)
        slack = 1e-6 * max(abs(low), abs(high))
        strange = [x for x in after if not low - slack <= x <= high + slack]
        return [Finding("missing value made a number", f"{strange[:5]}, beyond {low} to {high}")] if strange else []

    @staticmethod
    def again(case, result, folder, world):
        """Returns findings unless the output is read by the same rule, and with the same bits for any number of ranks."""
        words = [w for part in case.parts if part.words[0] != "--ranks" for w in part.words]
        if (second := world.run([*words, "--ranks", "1"], folder)).code != 0 or digest(second.out) != digest(result.out):
            return [Finding("ranks differ", f"{digest(result.out)} and {digest(second.out)}, {second.err[:200]!r}")]
        rule = case.parts[-1].words[-1] if case.parts[-1].words[0] == "--attribute" else "humidity:mean,missing=skip"
        third = world.run(["cluster", "out.nc", "--attribute", rule], folder)
        if third.code != 0:
            return [Finding("unreadable output", f"cluster out.nc --attribute {rule}: {third.err[:300]!r}")]
        return []


def digest(out):
    at = out.rfind(b"digest ")
    return out[at + 7:].split(b"\n")[0].decode() if at >= 0 else ""


ATTACK = Missing()
