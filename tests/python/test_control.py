# steno tests: cancelling, Ctrl-C, threads and processes in Python. SPDX-License-Identifier: MIT
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import unittest.mock

import recordings as r
import steno

LONG = r.long_floats(120)


def child(code, **options):
    """A Python that runs the code, with `model` and `long`, the samples of two minutes."""
    head = f"import os, sys, time, steno\nsys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
    head += "import recordings as r\nlong = r.long_floats(600)\nmodel = steno.Model(r.MODEL, threads=2)\n"
    return subprocess.Popen([sys.executable, "-B", "-c", head + textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


def threads_of_steno():
    return [t for t in threading.enumerate() if t.name == "steno"]


class Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = steno.Model(r.MODEL)

    def tearDown(self):
        for _ in range(200):
            gc.collect()
            if not threads_of_steno():
                break
            time.sleep(0.02)
        self.assertEqual(threads_of_steno(), [])
        self.assertEqual(self.model.transcribe(r.DEMO).result().text, " zero nine one eight. two seven.")

    def test_cancel_before_during_and_after_a_run(self):
        run = self.model.transcribe(LONG)
        run.cancel()
        with self.assertRaises(steno.Canceled):
            next(run)
        run = self.model.transcribe(LONG)
        next(run)
        threading.Timer(0.05, run.cancel).start()
        with self.assertRaises(steno.Canceled):
            run.result()
        run = self.model.transcribe(r.DEMO)
        text = run.result().text
        run.cancel()
        self.assertEqual(run.result().text, text)

    def test_a_run_that_waits_for_a_pipe_can_be_cancelled(self):
        run = self.model.transcribe(r.pipe())
        threading.Timer(0.1, run.cancel).start()
        with self.assertRaises(steno.Canceled):
            next(run)

    def test_an_abandoned_run_ends(self):
        run = self.model.transcribe(LONG)
        next(run)
        del run # tearDown waits for its thread
        with self.model.transcribe(LONG) as run:
            next(run)
        self.assertTrue(run._work.ended)

    def test_a_model_closes_while_a_run_waits_for_its_reader(self):
        for read in (lambda run: run.language, next):
            model = steno.Model(r.MODEL)
            run = model.transcribe(LONG)
            read(run)
            model.close()
            with self.assertRaises(steno.Canceled):
                run.result()

    def test_a_model_closes_its_batches_and_streams(self):
        model = steno.Model(r.MODEL)
        live, batch = model.stream(), model.transcribe_many([LONG] * 3)
        live.push(r.floats())
        batch._feed()
        model.stream().push(r.floats()) # abandoned
        model.close()
        self.assertEqual([type(x.error) for x in batch], [steno.Canceled] * 3)
        with self.assertRaisesRegex(ValueError, "closed"):
            live.push(r.floats())
        live.close()

    def test_a_run_or_batch_that_a_callback_closes_does_not_wait_for_itself(self):
        run = self.model.transcribe(LONG)
        run._work.on_progress = lambda *a: run.close()
        with self.assertRaises(steno.Canceled):
            run.result()
        batch = self.model.transcribe_many([r.DEMO])
        finish = steno._batch.finish
        with unittest.mock.patch("steno._batch.finish", lambda *a: (batch.close(), finish(*a))[1]):
            self.assertEqual([x.text for x in batch], [" zero nine one eight. two seven."])

    def test_a_slow_reader_holds_the_decoder(self):
        run = self.model.transcribe(LONG)
        next(run)
        time.sleep(0.6)
        self.assertLessEqual(len(run._work.queue), 2)
        n = len(run._work.segments)
        time.sleep(0.2)
        self.assertEqual(len(run._work.segments), n)
        run.close()

    def test_an_exception_in_a_callback_reaches_the_reader(self):
        run = self.model.transcribe(LONG)
        run._work.on_progress = lambda *a: 1 / 0
        with self.assertRaises(ZeroDivisionError):
            run.result()

    def test_ctrl_c_ends_every_call_of_the_main_thread(self):
        for call in ("model.transcribe(long).result()", "list(model.transcribe(long, beam_size=0))",
                     "model.detect_language(r.pipe())",
                     "model.align(long, 'zero nine one eight.' * 400)", "list(model.transcribe_many([long] * 3))"):
            p = child(f"""
                import threading, signal
                threading.Timer(0.5, lambda: (print(time.time(), flush=True), os.kill(os.getpid(), signal.SIGINT))).start()
                try:
                    {call}
                    print("not interrupted")
                except KeyboardInterrupt:
                    print(time.time(), "interrupted")
            """)
            out, err = p.communicate(timeout=120)
            self.assertEqual(p.returncode, 0, err)
            self.assertIn("interrupted", out, (call, err))
            self.assertNotIn("not interrupted", out, call)

    def test_ctrl_c_ends_the_calls_of_other_threads(self):
        for call in ("model.detect_language(r.pipe())", "model.transcribe(r.pipe()).result()", "model.transcribe(open(os.pipe()[0], 'rb')).result()"):
            p = child(f"""
                import threading, signal
                thread = threading.Thread(target=lambda: {call})
                thread.start()
                threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                thread.join()
            """)
            out, err = p.communicate(timeout=60)
            self.assertIn("KeyboardInterrupt", err, call)
            self.assertNotEqual(p.returncode, 0)

    def test_a_copy_of_a_file_object_can_be_cancelled(self):
        number, other = os.pipe()
        self.addCleanup(os.close, other)
        with open(number, "rb") as waits:
            run = self.model.transcribe(waits)
            threading.Timer(0.2, run.cancel).start()
            self.assertRaises(steno.Canceled, run.result)
            for thread in threading.enumerate():
                if thread.name == "steno-copy":
                    os.write(other, bytes(1 << 16)) # its read returns
                    thread.join(10)
                    self.assertFalse(thread.is_alive())

    def test_the_process_ends_while_a_run_is_open(self):
        p = child("run = model.transcribe(long); next(run); batch = model.transcribe_many([long] * 3); print('end')")
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, out, err), (0, "end\n", ""))

    def test_threads_share_a_model(self):
        texts = []
        threads = [threading.Thread(target=lambda: texts.append(self.model.transcribe(r.DEMO).result().text)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(texts, [" zero nine one eight. two seven."] * 4)

    def test_python_goes_on_while_the_library_computes(self):
        steps, stop, most = [], threading.Event(), 0

        def count():
            while not stop.is_set():
                steps.append(1)
                time.sleep(0.0005)

        def counted(*arguments):
            nonlocal most
            before = len(steps)
            rc = function(*arguments)
            most = max(most, len(steps) - before)
            return rc
        counter, function = threading.Thread(target=count), steno._native.lib.steno_align
        counter.start()
        with unittest.mock.patch.object(steno._native.lib, "steno_align", counted): # without callbacks: the audio is a file
            for _ in range(5):
                self.model.align(r.DEMO, "zero nine one eight two seven." * 8)
        stop.set()
        counter.join()
        self.assertGreater(most, 5) # a call that holds the GIL lets another thread do one step at its end

    def test_memory_and_descriptors_stay_flat(self):
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        def rounds(n):
            for _ in range(n):
                self.model.transcribe(r.DEMO, word_timestamps=True, formats=("srt",)).result()
                list(self.model.transcribe_many([r.DEMO, r.integers()], batch_size=2))
            gc.collect()
        rounds(3)
        before, files = resident(), len(os.listdir("/proc/self/fd"))
        rounds(12)
        self.assertLess(resident() - before, 4 << 20)
        self.assertEqual(len(os.listdir("/proc/self/fd")), files)

    def test_a_forked_child_transcribes(self):
        for used in (False, True): # a team of threads exists in the parent process, or not
            p = child(f"""
                if {used}: model.transcribe(r.DEMO).result(); open_run = model.transcribe(long); next(open_run)
                pid = os.fork()
                if pid == 0:
                    print(model.transcribe(r.DEMO).result().text, flush=True)
                    os._exit(0)
                print(os.waitpid(pid, 0)[1])
            """)
            out, err = p.communicate(timeout=120)
            self.assertEqual(out, " zero nine one eight. two seven.\n0\n", err)

    def test_a_run_of_the_parent_process_is_over_in_a_forked_child(self):
        p = child("""
            run = model.transcribe(long); next(run)
            batch = model.transcribe_many([long] * 2); batch._feed()
            live = model.stream(); live.push(r.floats())
            pid = os.fork()
            if pid == 0:
                for read in (run.result, lambda: next(batch), lambda: live.push(r.floats())):
                    try:
                        read()
                    except Exception as e:
                        print(type(e).__name__, e, flush=True)
                run.close(); batch.close(); live.close(); model.close()
                os._exit(0)
            print(os.waitpid(pid, 0)[1])
        """)
        out, err = p.communicate(timeout=120)
        self.assertEqual(out, "Error the run belongs to the parent process\nCanceled canceled\n"
                              "ValueError the live transcription is closed\n0\n", err)

    def test_spawned_workers_open_the_model_themselves(self):
        p = child("""
            import multiprocessing, concurrent.futures
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                print(pool.submit(steno.Model.detect_language, model, r.DEMO).result().popitem()[1] >= 0)
        """)
        out, err = p.communicate(timeout=120)
        self.assertEqual(out, "True\n", err)

    def test_ctrl_c_ends_python_m_steno(self):
        p = subprocess.Popen([sys.executable, "-m", "steno", "stream", "-m", r.MODEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130)


class Package(unittest.TestCase):
    def test_a_library_without_all_parts_is_named(self):
        part = os.path.join(os.path.dirname(os.environ.get("STENO_LIBRARY", "")), "libsteno.so")
        if not os.path.exists(part):
            self.skipTest("no libsteno.so beside the library")
        p = subprocess.run([sys.executable, "-B", "-c", f"import steno; steno.Model(r'{r.MODEL}')"], stderr=subprocess.PIPE, text=True,
                           env={**os.environ, "STENO_LIBRARY": part})
        self.assertIn(f"ImportError: steno: {part} has no steno_", p.stderr)
        self.assertIn("libsteno-python.so", p.stderr)

    def test_python_m_steno_is_the_program(self):
        self.assertEqual(subprocess.run([sys.executable, "-m", "steno", "-m", r.MODEL, r.DEMO], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True).stdout, r.steno("-m", r.MODEL, r.DEMO))

    def test_import_reads_few_modules(self):
        code = "import sys; before = set(sys.modules); import steno; print(*sorted(set(sys.modules) - before))"
        out = subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        self.assertEqual([m for m in out if m.split(".")[0] in ("numpy", "ctypes", "dataclasses", "inspect", "asyncio", "subprocess")], [])
        code = "import sys; import steno; steno.Model; print(*sorted(sys.modules))"
        out = subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        self.assertEqual([m for m in out if m.split(".")[0] in ("numpy", "dataclasses", "inspect", "asyncio", "subprocess")], [])

    def test_every_name_of_the_package_can_be_imported(self):
        self.assertEqual(set(steno.__all__), {*steno._HOME, "__version__"})
        for name in steno.__all__:
            self.assertIsNotNone(getattr(steno, name), name)


if __name__ == "__main__":
    unittest.main()
