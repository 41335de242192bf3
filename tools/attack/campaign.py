"""Distributes cases of all classes over parallel jobs until the time is over; collects, shrinks and stores findings."""
import os
import random
import shutil
import threading
import time
import traceback

from .attempt import run_case, shrink
from .judge import EVERYWHERE
from .processes import Exhausted, OutOfTime
from .verbs import Absent

SHRINK_S = 20  # most seconds for one finding
REPLAYS = 5  # tries for a case that depends on the moment


class Tally:
    def __init__(self):
        self.cases, self.found, self.seconds, self.next = 0, 0, 0.0, 0
        self.kinds = {}


class Campaign:
    """State of one call of ./x attack. `say` prints a line."""

    def __init__(self, world, attacks, seed, keep, say=print):
        self.world, self.seed, self.keep, self.say = world, seed, keep, say
        self.attacks = attacks
        self.tallies = {a.name: Tally() for a in attacks}
        self.lock = threading.Lock()
        self.end = None
        self.stopped = False
        self.unfinished = []
        self.left_out = {}  # cases by the verb that the program lacks

    def case(self, attack, number):
        """Returns the case of a seed and a number, the same for every caller."""
        return attack.make(random.Random(f"{self.seed}/{attack.name}/{number}"), self.world)

    def run(self, seconds, jobs):
        self.end = time.monotonic() + seconds
        self.world.end = self.end + min(30, max(5, seconds / 10))
        threads = [threading.Thread(target=self.work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:  # interrupted: what runs is given up
            self.stopped = True
            self.world.end = 0
            for thread in threads:
                thread.join()

    def take(self):
        """Returns the class that has had the least time so far, and the number of its next case."""
        with self.lock:
            attack = min(self.attacks, key=lambda a: (self.tallies[a.name].seconds / a.weight, self.attacks.index(a)))
            tally = self.tallies[attack.name]
            tally.next += 1
            tally.seconds += 0.01  # until it is known what this case takes, others come first
            return attack, tally.next - 1

    def work(self):
        while time.monotonic() < self.end and not self.stopped:
            attack, number = self.take()
            began = time.monotonic()
            try:
                self.one(attack, number)
            except Exhausted:
                self.unfinished.append(f"{attack.name} {number}")
                time.sleep(1)
            except OutOfTime:
                self.unfinished.append(f"{attack.name} {number}")
            except Absent as lacking:
                with self.lock:
                    self.left_out[lacking.verb] = self.left_out.get(lacking.verb, 0) + 1
                time.sleep(0.01)  # there may be no other cases
            except Exception:  # a fault of this tool must not end the other jobs, nor pass as nothing found
                self.failed(attack, number, traceback.format_exc())
            with self.lock:
                self.tallies[attack.name].seconds += time.monotonic() - began

    def one(self, attack, number):
        case = self.case(attack, number)
        if case is None:  # not possible here: no launcher, no root
            return
        attempt = run_case(case, attack, self.world)
        with self.lock:
            self.tallies[attack.name].cases += 1
        if attempt.findings:
            self.report(attack, number, attempt)

    def replay(self, attack, number):
        try:
            case = self.case(attack, number)
            if case is not None:
                self.world.require(case.words())
        except Absent as lacking:
            self.say(f"this case cannot be run here: {lacking}")
            return
        if case is None:
            self.say("this case cannot be run here: it needs a launcher or root")
            return
        self.say(f"case: {case.what}\n  line: {case.line()}")
        for _ in range(REPLAYS):
            try:
                self.one(attack, number)
            except Absent as lacking:
                self.say(f"this case cannot be judged here: {lacking}")
                return
            if not case.racy or self.tallies[attack.name].found:
                return

    def failed(self, attack, number, text):
        with self.lock:
            tally = self.tallies[attack.name]
            tally.found += 1
            tally.kinds.setdefault("the attack itself failed", 0)
            tally.kinds["the attack itself failed"] += 1
        self.say(f"FAULT OF THE ATTACK {attack.name} --seed {self.seed} --case {number}\n{text}")

    def report(self, attack, number, attempt):
        kind = attempt.findings[0].kind
        if kind not in EVERYWHERE:
            kind = f"{attempt.case.verb}: {kind}"
        with self.lock:
            tally = self.tallies[attack.name]
            tally.found += 1
            tally.kinds[kind] = tally.kinds.get(kind, 0) + 1
            if tally.kinds[kind] > 1:
                return
        left = SHRINK_S if self.end is None else max(2.0, min(SHRINK_S, (self.end - time.monotonic()) / 4))
        small = attempt
        try:
            small = shrink(attempt, attack, self.world, time.monotonic() + left)
        except (OutOfTime, Exhausted):  # it is told as it was found
            pass
        kept = self.keep_case(attack, number, small)
        finding, result = small.findings[0], small.result
        self.say("\n".join([
            f"FINDING {attack.name}: {small.case.verb}: {finding.text}",
            *([f"  what: {small.case.what}"] if small.case.what else []),
            f"  line: {small.case.line()}",
            f"  exit: {result.code}; stderr: {result.err[:300].decode(errors='backslashreplace')!r}",
            f"  again: ./x attack {attack.name} --seed {self.seed} --case {number}   kept: {kept}"]))

    def keep_case(self, attack, number, attempt):
        """Stores the inputs of the smallest case, its command line, exit code and output. Returns the folder."""
        path = os.path.join(self.keep, f"{attack.name}-{self.seed}-{number}")
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        case, result = attempt.case, attempt.result
        for name, content in case.files.items():
            full = os.path.join(path, name)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.bytes())
        with open(os.path.join(path, "command.txt"), "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"in work: {case.line()}\nwhat: {case.what}\nlinks: {case.links} hard: {case.hard_links}\n"
                       f"limits: {case.limits}\nexit code: {result.code}, {result.seconds:.2f} s, {result.rss_kib} KiB\n")
            file.writelines(f"finding: {f.text}\n" for f in attempt.findings)
            file.write(f"again: ./x attack {attack.name} --seed {self.seed} --case {number}\n")
        for name, content in (("stderr.txt", result.err), ("stdout.txt", result.out)):
            with open(os.path.join(path, name), "wb") as file:
                file.write(content[:1 << 20])
        return path

    def summary(self):
        """Returns lines for each class and for all, and the number of findings."""
        lines, cases, found = [], 0, 0
        for attack in self.attacks:
            tally = self.tallies[attack.name]
            cases, found = cases + tally.cases, found + tally.found
            kinds = "; ".join(f"{n} x {k}" for k, n in sorted(tally.kinds.items(), key=lambda item: -item[1])[:20])
            lines.append(f"{attack.name:8} {tally.cases} cases, {tally.found} findings{': ' + kinds if kinds else ''}")
        if self.left_out:
            most = sorted(self.left_out.items(), key=lambda item: -item[1])
            lines.append(f"left out, as the program lacks their verbs: {', '.join(f'{n} cases of {verb}' for verb, n in most)}")
        if self.unfinished:
            lines.append(f"not judged, as the time was over or the machine gave no more processes: {', '.join(self.unfinished)}")
        return [*lines, f"{'all':8} {cases} cases, {found} findings"], found
