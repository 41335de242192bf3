#!/usr/bin/env python3
"""Jobs over emulated hosts: python3 tests/hosts/hosts_test.py --build FOLDER [NAME...]. Ends with 77 where the system
allows no namespaces, saying so."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_ALLOWED = 77
# Seconds: far beyond what any of these takes on a machine with other work.
PATIENCE = int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))
LONG = 200 * PATIENCE
build = "build"


def command(*words):
    return [sys.executable, "-m", "hosts", "--build", build, *words]


def environment(**more):
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if n in os.environ}
    return {**kept, "PYTHONPATH": os.path.join(ROOT, "tools"), "PYTHONDONTWRITEBYTECODE": "1", **more}


def hosts(*words, **variables):
    return subprocess.run(command(*words), env=environment(**variables), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=LONG, check=False)


def merganser(*words):
    return subprocess.run([os.path.join(build, "bin", "merganser"), *words], env=environment(), capture_output=True,
                          text=True, timeout=LONG, check=True).stdout


def models():
    names = json.loads(merganser("doctor", "--json", "-"))["models"]
    return [name for name in names if name != "threads"]


def has_fault(words):
    """Whether doctor names a fault of the installed library."""
    return words in merganser("doctor")


def marked(mark):
    """Processes with a variable of this value in their environment."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark.encode() in file.read() and int(entry) != os.getpid():
                    found.append(int(entry))
        except OSError:
            continue
    return found


class Hosts(unittest.TestCase):
    """What is told on standard error is one line for an error, beside the tool's own and the command that run repeats."""

    @classmethod
    def setUpClass(cls):
        # Not in /tmp, which every host has for itself.
        cls.folder = tempfile.mkdtemp(prefix="hosts-test-", dir=build)
        cls.parcels = os.path.join(cls.folder, "in.nc")
        cls.with_files = True
        if models():
            try:
                merganser("gen", "random", "--cells", "12,12,12", "--per-cell", "10", "-o", cls.parcels)
            except subprocess.CalledProcessError as error:
                if "this build has no NetCDF" not in error.stderr:
                    raise
                cls.with_files = False

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        if self._testMethodName.startswith("test_ranks") and not models():
            self.skipTest("this build has no model of processes")

    def told(self, run):
        # MPICH writes a line of its own, "Abort(4) on node 1", beside that of the rank, and MPIR_CVAR_SUPPRESS_ABORT_MESSAGE
        # takes only half of it away.
        ours = ("hosts: ", "+ ", "Abort(")
        return [line for line in run.stderr.splitlines() if line and not line.startswith(ours) and "plm:rsh" not in line]

    def test_each_host_has_a_name_an_address_processes_and_folders_of_its_own(self):
        shared = ROOT.split("/")[2:3] if ROOT.startswith("/tmp/") else []  # on the way to this tree
        run = hosts("3", "--exec", "--", "sh", "-c",
                    'hostname; ls -A /dev/shm /tmp; grep -c host /etc/hosts; '
                    'for h in host1 host2; do "$OMPI_MCA_plm_rsh_agent" $h "hostname; ls /proc | grep -c ^[0-9]"; done')
        self.assertEqual(run.returncode, 0, run)
        words = run.stdout.split()
        self.assertEqual(words[:-4], ["host0", "/dev/shm:", "/tmp:", *shared, "4"])
        self.assertEqual((words[-4], words[-2]), ("host1", "host2"))
        self.assertLess(int(words[-3]), 10)  # its own and what was asked

    def test_a_tree_in_tmp_stays_where_it_is_when_tmp_is_a_host_s_own(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            tree = os.path.join(folder, "tree")
            os.makedirs(os.path.join(tree, "build"))
            run = subprocess.run([sys.executable, "-c", "import os, sys; from hosts import namespaces as ns\n"
                                  "ns.unshare_as_root(ns.NEWNS); ns.private_mounts(); ns.fresh_folder('/tmp', sys.argv[1:])\n"
                                  "print(os.listdir('/tmp'), os.listdir(sys.argv[1]))", tree],
                                 env=environment(), capture_output=True, text=True, timeout=LONG, check=False)
            self.assertEqual(run.stdout, f"{[os.path.basename(folder)]} ['build']\n", run)

    def test_the_exit_code_is_that_of_the_command(self):
        self.assertEqual(hosts("1", "--exec", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(hosts("2", "--", "doctor", "--no-such-option").returncode, 2)

    def test_wrong_options_are_refused_with_what_is_allowed(self):
        for words in (["0", "--", "doctor"], ["2", "--delay", "5", "--", "doctor"], ["2"],
                      ["2", "--cut", "2@1", "--", "doctor"], ["2", "--off", "0@1", "--", "doctor"]):
            run = hosts(*words)
            self.assertEqual(run.returncode, 2, run)
            self.assertIn("allowed", run.stderr)

    def test_a_file_where_each_host_has_a_folder_of_its_own_is_refused(self):
        run = hosts("2", "--", "doctor", "--json=/dev/shm/merganser-no-such-folder/doctor.json")
        self.assertEqual(run.returncode, 2, run)
        self.assertIn("doctor.json lies where each host has a folder of its own; allowed:", run.stderr)

    def test_a_system_that_allows_no_namespaces_is_told_in_one_line(self):
        limit = "echo 0 >/proc/sys/user/max_net_namespaces && exec \"$@\""
        run = subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", limit, "sh",
                              *command("2", "--exec", "--", "true")], env=environment(), capture_output=True, text=True,
                             timeout=LONG, check=False)
        if "max_net_namespaces" in run.stderr or "unshare failed" in run.stderr:
            self.skipTest(run.stderr.strip())
        self.assertEqual(run.returncode, NOT_ALLOWED, run)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("namespaces are not allowed here", run.stderr)

    def test_nothing_is_left_of_a_set_whose_tool_is_killed_or_interrupted(self):
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            mark = uuid.uuid4().hex
            child = subprocess.Popen(command("3", "--delay", "100us", "--quiet", "--exec", "--", "sh", "-c",
                                             "echo ready; sleep 100"), env=environment(MARK=mark),
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(child.stdout.readline(), "ready\n")
            self.assertGreater(len(marked(mark)), 4)  # the tool, hosts, the forwarder, the command
            child.send_signal(number)
            self.assertNotEqual(child.wait(timeout=LONG), 0)
            child.stdout.close()
            for _ in range(400):
                if not marked(mark):
                    break
                time.sleep(0.05)
            self.assertEqual(marked(mark), [], f"after signal {number}")

    def test_ranks_are_spread_over_two_sets_at_once_and_merge_the_same_parcels(self):
        if not self.with_files:
            self.skipTest("this build reads no parcel files")
        if has_fault("MPI_Finalize on several hosts may wait for ever"):
            self.skipTest("this MPI does not always end over hosts, see doctor")
        expected = merganser("cluster", self.parcels).split("digest ")[1].split()[0]
        for model in models():
            both = [subprocess.Popen(command("3", *delay, "--", "cluster", self.parcels, "--comm", model),
                                     env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for delay in ([], ["--delay", "200us"])]
            for child in both:
                out, err = child.communicate(timeout=LONG)
                self.assertEqual(child.returncode, 0, (model, out, err))
                self.assertIn(f"digest {expected}", out, model)

    def test_ranks_of_verify_read_its_plan_though_every_host_has_a_tmp_of_its_own(self):
        run = hosts("2", "--", "verify", "--ranks", "2", "--comm", "all", "--samples", "2")
        self.assertEqual(run.returncode, 0, run)
        self.assertIn("all equal to the serial reference", run.stdout)

    def test_ranks_exchange_no_faster_than_the_delay_they_were_given(self):
        if "topo bench" not in merganser("--help"):
            self.skipTest("this build has no package topology")
        record = os.path.join(self.folder, "bench.json")
        run = hosts("2", "--delay", "2ms", "--", "topo", "bench", "--graph", "chain", "--ranks", "2", "--sizes", "8",
                    "--kernels", "p2p.isend-irecv", "--time", "1", "--csv", record)
        self.assertEqual(run.returncode, 0, run)
        found = re.search(r"p2p\.isend-irecv\s+8\s+\*?\s+(\S+)", run.stdout)
        self.assertGreaterEqual(float(found[1]), 2000, run.stdout)  # microseconds: each waits for the other's message

    def endless(self):
        return ["cluster", self.parcels, "--steps", "100000000", "--comm", models()[0]]

    def test_ranks_that_lose_one_by_a_signal_end_with_one_line(self):
        if not self.with_files:
            self.skipTest("this build reads no parcel files")
        run = hosts("3", "--kill", f"2@{2 * PATIENCE}", "--", *self.endless())
        if "HYD_pmcd_pmip" in run.stderr:
            self.assertEqual(run.returncode, 4, run)
            self.skipTest("a proxy of Hydra failed where a rank was killed, and its launcher does not know of the signal")
        self.assertEqual(run.returncode, 137, run)
        self.assertEqual(len(self.told(run)), 1, run.stderr)
        self.assertIn("signal 9", run.stderr)

    def test_ranks_that_lose_a_host_end_with_one_line(self):
        if not self.with_files:
            self.skipTest("this build reads no parcel files")
        # The ranks notice first; or the launcher, but not while it had something under way when the cable was cut: then the
        # system sends that again for a quarter of an hour before it looks, and the ranks' limit ends the job after all, if they
        # have begun: on a busy machine the cable is cut later.
        for limit in ("5", "90"):
            began = time.monotonic()
            run = hosts("3", "--cut", f"2@{4 * PATIENCE}", "--", *self.endless(), MERGANSER_WAIT_LIMIT=limit)
            self.assertEqual(run.returncode, 4, run)
            self.assertEqual(len(self.told(run)), 1, run.stderr)
            self.assertLess(time.monotonic() - began, 180 * PATIENCE)


def main():
    global build
    words = sys.argv[1:]
    if words[:1] == ["--build"]:
        build = os.path.abspath(words[1])
        words = words[2:]
    probe = hosts("1", "--quiet", "--exec", "--", "true")
    if probe.returncode == NOT_ALLOWED:
        print(f"skipped: {probe.stderr.strip()}")
        return NOT_ALLOWED
    program = unittest.main(argv=[sys.argv[0], "-v", *words], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
