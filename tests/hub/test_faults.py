"""steno tests: models pull when things go wrong: never a wrong file in place. SPDX-License-Identifier: MIT

Behind every test nothing_wrong looks at all that has its final name. Which test shows what:

    cut                 test_a_cut_goes_on_where_it_was, test_tries_end (every answer is cut)
    slow, stall         test_transient_faults_are_repaired, test_a_stall_ends_and_goes_on
    5xx, 429, no one    test_transient_faults_are_repaired (503), test_faults_that_end_a_pull (500), test_a_hub_that_wants_a_pause_gets_it,
                        test_an_unreachable_hub_is_retried
    wrong length        test_wrong_bytes_are_never_in_place (longer), test_ranges_of_elsewhere_are_not_taken
    wrong hash          test_wrong_bytes_are_never_in_place, test_a_partial_file_that_is_wrong_is_seen_and_fetched_anew; of a name whose
                        hash is known before: test_names, test_a_name_with_a_hash_takes_nothing_else; of what lies in the cache since
                        long: test_pull, test_a_blob_that_has_gone_bad_is_fetched_again
    redirects           test_faults_that_end_a_pull (loop, scheme), test_a_signed_address_is_never_printed
    no space            test_a_full_disk, test_a_disk_that_fills_up_on_the_way, test_more_than_the_disk_holds_is_seen_before
    two at once         test_two_at_once, test_a_killed_one_beside_a_waiting_one; with the hub's own client: test_clients,
                        test_both_at_once, test_its_lock_is_ours
    killed              test_killed_and_again, test_a_signal_keeps_what_has_come
    mirrors             test_a_mirror_without_lists_is_asked_of_each_file (HEAD refused, too), test_a_mirror_of_files_alone_...,
                        test_a_mirror_that_gives_no_hash_is_not_trusted"""
import os
import signal
import subprocess
import time

from fakehub import COMMIT, EVIL, WHISPER, sha256
from steno_hub import STENO, Case, json, main

BIG = WHISPER["model.safetensors"]


class Faults(Case):
    def tearDown(self):
        self.nothing_wrong()
        super().tearDown()

    def ranges(self):
        return [f.get("Range") for m, p, f in self.hub.log if p.startswith("/store/")]

    def partials(self):
        return [os.path.join(d, f) for d, _, names in os.walk(self.home) for f in names if f.endswith(".incomplete")]

    def good(self, fault, *args, **more):
        out, err = self.pull(0, "--retries", "2", *args, "fault/" + fault, **more)
        self.assertEqual(self.read(out.strip(), "model.safetensors"), BIG)
        self.assertEqual(self.partials(), [])
        return err

    def bad(self, code, fault, says, *args):
        _, err = self.pull(code, "--retries", "1", *args, "fault/" + fault)
        self.assertIn(says, err)
        self.assertFalse(os.path.exists(os.path.join(self.cache, "models--fault--" + fault, "refs")))
        self.assertFalse(os.path.exists(os.path.join(self.snapshot("fault/" + fault), "model.safetensors")))
        return err

    def test_transient_faults_are_repaired(self):
        for fault in ("slow", "gzip", "nolength", "noetag", "308", "403-once", "503-2", "page-3", "badonce"):
            with self.subTest(fault=fault):
                self.good(fault)

    def test_a_mirror_without_lists_is_asked_of_each_file(self):
        for fault, how in (("notree", "HEAD"), ("notree-405", "GET"), ("notree-501", "GET")):
            with self.subTest(fault=fault):
                self.hub.log.clear()
                self.good(fault)
                asked = [f.get("Range") for m, p, f in self.hub.log if m == how and p.endswith("model.safetensors") and "/store/" not in p]
                self.assertEqual(asked[0], None if how == "HEAD" else "bytes=0-0")
                self.assertEqual(self.files_below(self.snapshot("fault/" + fault)),
                                 ["config.json", "generation_config.json", "model.safetensors", "vocab.json"])
                self.assertFalse(os.path.exists(os.path.join(self.snapshot("fault/" + fault), "../../trees")))

    def test_a_mirror_of_files_alone_serves_those_that_are_named(self):
        self.bad(7, "noapi", "the hub answers 405")
        out, _ = self.pull(0, "fault/noapi:vocab.json")
        self.assertEqual(self.read(out.strip()), WHISPER["vocab.json"])
        _, err = self.pull(3, "fault/noapi:none.json")
        self.assertIn("there is no file none.json", err)

    def test_a_mirror_that_gives_no_hash_is_not_trusted(self):
        self.bad(3, "nothing", "no hash or size")

    def test_missing_files_are_recorded_and_not_requested_again(self):
        repo = os.path.join(self.cache, "models--fault--x")
        self.pull(0, "fault/x:config.json")
        _, err = self.pull(3, "fault/x:sub/none.json")
        self.assertIn("there is no file sub/none.json", err)
        self.assertEqual(self.read(repo, ".no_exist", COMMIT, "sub/none.json"), b"")
        self.hub.log.clear()
        _, err = self.pull(3, "fault/x@%s:sub/none.json" % COMMIT)
        self.assertIn("by an earlier request", err)
        _, err = self.pull(3, "--offline", "fault/x:sub/none.json")
        self.assertIn("has no such file, by an earlier request", err)
        self.assertFalse(self.hub.log)
        self.pull(3, "--force", "fault/x@%s:sub/none.json" % COMMIT)
        self.assertTrue(self.hub.log)
        self.run_steno(0, "models", "rm", "--yes", "fault/x")
        self.assertFalse(os.path.exists(os.path.join(repo, ".no_exist", COMMIT)))

    def test_a_cut_goes_on_where_it_was(self):
        self.good("cut-1000000")
        self.assertEqual(self.ranges(), [None, "bytes=1000000-"])

    def test_a_hub_that_has_no_ranges_starts_over(self):
        path = os.path.join(self.cache, "models--fault--norange/blobs")
        os.makedirs(path)
        with open(os.path.join(path, sha256(BIG) + ".steno.incomplete"), "wb") as f:
            f.write(BIG[:1000])
        self.good("norange")

    def test_ranges_of_elsewhere_are_not_taken(self):
        for fault in ("wrongrange", "416"):
            path = os.path.join(self.cache, "models--fault--%s/blobs" % fault)
            os.makedirs(path)
            with open(os.path.join(path, sha256(BIG) + ".steno.incomplete"), "wb") as f:
                f.write(BIG[:1000])
            with self.subTest(fault=fault):
                self.good(fault)

    def test_a_partial_file_that_is_wrong_is_seen_and_fetched_anew(self):
        path = os.path.join(self.cache, "models--fault--x/blobs")
        os.makedirs(path)
        for wrong in (b"wrong" * 1000, BIG[:-1] + b"?", BIG + b"?"):
            with open(os.path.join(path, sha256(BIG) + ".steno.incomplete"), "wb") as f:
                f.write(wrong)
            self.good("x", "--force")

    def test_partial_files_of_others_are_left_alone(self):
        path = os.path.join(self.cache, "models--fault--x/blobs")
        os.makedirs(path)
        theirs = os.path.join(path, sha256(BIG) + ".incomplete")
        with open(theirs, "wb") as f:
            f.write(b"theirs")
        self.pull(0, "fault/x")
        self.assertEqual(self.read(theirs), b"theirs")

    def test_wrong_bytes_are_never_in_place(self):
        self.bad(3, "badbytes", "its bytes are wrong")
        self.assertEqual(self.partials(), [])
        self.bad(3, "longer", "the server has 2097156 bytes of it, not the 2097152 that were promised")

    def test_faults_that_end_a_pull(self):
        for code, fault, says in ((7, "packed", "compresses the file"), (7, "loop", "redirected more than 20 times"),
                                  (7, "scheme", "is not an http or https address"), (3, "norepo", "no such repository"),
                                  (3, "private", "private ones need HF_TOKEN"), (3, "gated", "accept the terms"),
                                  (7, "nojson", "the answer is not from a hub"), (7, "500", "the hub answers 500"),
                                  (3, "dup", "is listed twice"), (3, "endless", "does not end")):
            with self.subTest(fault=fault):
                self.bad(code, fault, says)

    def test_paths_that_lead_out_are_refused(self):
        for i, path in enumerate(EVIL):
            with self.subTest(path=path):
                self.bad(3, "evil-%d" % i, "which is refused")
        self.assertEqual([p for p in self.hub.paths() if "resolve" in p], [])

    def test_tries_end(self):
        began = time.time()
        err = self.bad(7, "cuts-5000", "model.safetensors")
        self.assertLess(time.time() - began, 30)
        self.assertEqual(len(self.partials()), 1)
        self.assertIn("keeps the partial download", err)

    def test_tries_end_where_a_server_has_no_ranges(self):
        """It cuts at 1 MiB and a bit, then behind 2 more: what comes again is no progress."""
        self.hub.repos["fault/seesaw"] = {"ggml-x.bin": bytes(8 << 20)}
        self.pull(7, "--retries", "2", "fault/seesaw")
        self.assertEqual(len(self.ranges()), 3)

    def test_an_unreachable_hub_is_retried(self):
        _, err = self.pull(7, "--retries", "1", "a/b", HF_ENDPOINT="http://127.0.0.1:9")
        self.assertIn("retry in", err)

    def test_a_hub_that_wants_a_pause_gets_it(self):
        began = time.time()
        err = self.good("429-t1")
        self.assertGreater(time.time() - began, 2)
        self.assertIn("retry in 2 s", err)

    def test_a_failed_look_up_of_a_name_is_said_each_time(self):
        for n, *args in ((3, "pull", "a/b"), (1, "search", "x"), (1, "pull", "-q", "a/b")):
            _, err = self.run_steno(7, "models", *args, "--retries", "2", HF_ENDPOINT="https://nohost.invalid")
            reasons = {line.split("; retry")[0] for line in err.splitlines()}
            self.assertEqual((len(reasons), len(err.splitlines())), (1, n), err)
            self.assertNotIn("argument", err)

    def test_a_pause_has_an_end(self):
        """A date is compared with the server's clock."""
        at = lambda s: time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + s))
        for retry, longest in (("0", 1), ("-5", 3), ("-99999999999999999999", 3), ("soon", 3), ("", 3), (at(-9), 1), (at(2), 4), ("nan", 3)):
            with self.subTest(retry=retry):
                self.hub.retry = retry
                self.hub.counts.clear()
                began = time.time()
                self.good("later", "--force")
                self.assertLess(time.time() - began, longest + 3)
        for retry in ("311", "99999", "18446744073709551617", "9" * 300, at(4000), "Fri, 31 Dec 9999 23:59:59 GMT"):
            with self.subTest(retry=retry):
                self.hub.retry = retry
                self.hub.counts.clear()
                began = time.time()
                _, err = self.pull(7, "fault/later")
                self.assertIn("which is too long to wait: try later", err)
                self.assertLess(time.time() - began, 5)

    def test_answers_without_an_end(self):
        """Their code counts, and not all of them is read."""
        for fault, code, says in (("page", 3, "not found"), ("drip", 3, "not found"), ("head", 7, "header fields of the answer do not end"),
                                  ("hops", 7, "redirected more than 20 times")):
            with self.subTest(fault=fault):
                began = time.time()
                self.hub.log.clear()
                _, err = self.pull(code, "--retries", "1", "fault/" + fault, HF_HUB_ETAG_TIMEOUT="2", HF_HUB_DOWNLOAD_TIMEOUT="2")
                self.assertIn(says, err)
                self.assertLess(time.time() - began, 20)
                self.assertLess(len(self.hub.log), 60)

    def test_lengths_that_are_not_so(self):
        for n in ("1", "0", "500", "9" * 18, "9" * 30, "neg", "x"):
            with self.subTest(n=n):
                began = time.time()
                self.pull(7, "--retries", "1", "fault/lies-" + n, HF_HUB_DOWNLOAD_TIMEOUT="2")
                self.assertLess(time.time() - began, 20)

    def test_a_stall_ends_and_goes_on(self):
        err = self.good("stall", HF_HUB_DOWNLOAD_TIMEOUT="2")
        self.assertIn("no data came for 2 s", err)

    def test_a_full_disk(self):
        script = 'ulimit -f 1000; exec "$0" models pull fault/x'  # blocks of 1024 bytes
        p = subprocess.run(["bash", "-c", script, STENO], env=self.env(), capture_output=True, text=True, cwd=self.home)
        self.assertEqual(p.returncode, 6, p.stderr)
        self.assertIn("the disk is full", p.stderr)
        self.good("x")
        self.assertIn("bytes=1024000-", self.ranges())

    def test_a_disk_that_fills_up_on_the_way(self):
        script = """mount -t tmpfs -o size=3m none "$1" || exit 99
            HF_HUB_CACHE=$1 "$0" models pull fault/slow &
            until ls "$1"/models--fault--slow/blobs/*.incomplete >/dev/null 2>&1; do sleep 0.05; done
            dd if=/dev/zero of="$1/rest" bs=64k 2>/dev/null
            wait $!; echo "exit $?"; rm "$1/rest"; ls -A "$1"/models--fault--slow/snapshots "$1"/models--fault--slow/refs 2>/dev/null
            HF_HUB_CACHE=$1 "$0" models pull -q fault/slow && HF_HUB_CACHE=$1 "$0" models verify -q fault/slow && echo "then well" """
        disk = os.path.join(self.home, "disk")
        os.mkdir(disk)
        try:
            p = subprocess.run(["unshare", "-rm", "bash", "-c", script, STENO, disk], env=self.env(), capture_output=True, text=True,
                               cwd=self.home, timeout=120)
        except FileNotFoundError:
            self.skipTest("there is no program unshare; test_a_full_disk limits the size of a file instead")
        if p.returncode in (1, 99) and "exit" not in p.stdout:
            self.skipTest("nothing may be mounted here; test_a_full_disk limits the size of a file instead")
        said = p.stdout.splitlines()
        self.assertEqual((said[0], said[-1]), ("exit 6", "then well"), p.stdout + p.stderr)
        self.assertIn("the disk is full", p.stderr)
        self.assertFalse([line for line in said if line in ("model.safetensors", "main")], p.stdout)

    def test_more_than_the_disk_holds_is_seen_before(self):
        repo, huge = "a/huge", 1 << 52

        class Many(bytes):
            def __len__(self):
                return huge

        self.hub.repos[repo] = {"ggml-x.bin": Many(b"x")}
        _, err = self.pull(6, repo)
        self.assertIn("are free", err)
        self.assertEqual([p for p in self.hub.paths() if "resolve" in p], [])
        del self.hub.repos[repo]

    def test_a_cache_that_may_not_be_written(self):
        os.makedirs(self.cache)
        with open(self.cache + "/models--fault--x", "w"):
            pass
        _, err = self.pull(6, "fault/x")
        self.assertIn("models--fault--x", err)
        os.unlink(self.cache + "/models--fault--x")

    def test_a_signal_keeps_what_has_come(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            asked = len(self.ranges())
            p = self.start("models", "pull", "fault/slow")
            while len(self.ranges()) == asked or not self.partials():
                time.sleep(0.05)
            time.sleep(0.3)
            p.send_signal(number)
            _, err = p.communicate(timeout=20)
            self.assertEqual(p.returncode, code, err)
            self.assertIn("keeps the partial download", err)
            self.assertEqual(len(self.partials()), 1)
        n = os.path.getsize(self.partials()[0])
        self.good("slow")
        self.assertTrue(n == 0 or self.ranges()[-1] == "bytes=%d-" % n)

    def test_killed_and_again(self):
        for i in range(12):
            p = self.start("models", "pull", "fault/slow")
            time.sleep(0.05 + 0.11 * i)
            p.kill()
            p.communicate()
            self.nothing_wrong()
            self.assertFalse(os.path.exists(os.path.join(self.cache, "models--fault--slow/refs/main")) and self.partials())
        self.good("slow")

    def test_two_at_once(self):
        both = [self.start("models", "pull", "fault/slow") for _ in range(3)]
        for p in both:
            out, err = p.communicate(timeout=60)
            self.assertEqual(p.returncode, 0, err)
            self.assertEqual(self.read(out.strip(), "model.safetensors"), BIG)
        self.assertEqual(len([p for p in self.hub.paths() if p.startswith("/store/")]), 1)

    def test_a_killed_one_beside_a_waiting_one(self):
        first = self.start("models", "pull", "fault/slow")
        while not self.partials():
            time.sleep(0.05)
        second = self.start("models", "pull", "fault/slow")
        time.sleep(0.2)
        first.kill()
        first.communicate()
        out, err = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 0, err)

    def test_a_signed_address_is_never_printed(self):
        for fault in ("badbytes", "cuts-5000", "longer"):
            out, err = self.pull(3 if fault != "cuts-5000" else 7, "--retries", "0", "fault/" + fault)
            self.assertNotIn("sig=", out + err)
        _, err = self.pull(3, "--json", "--retries", "0", "fault/badbytes")
        self.assertEqual(json.loads([line for line in err.splitlines() if line.startswith("{")][-1])["event"], "error")


main()
