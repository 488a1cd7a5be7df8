# steno: threads that call the library. SPDX-License-Identifier: MIT
"""Calls run on threads of their own, so that Ctrl-C reaches the main thread while the library computes."""
from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from typing import Any, Callable, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_running: dict[threading.Thread, Callable[[], None]] = {}
_elsewhere: dict[object, Callable[[], None]] = {} # calls of threads other than the main one
_interrupted = False
_after_fork: weakref.WeakSet[Any] = weakref.WeakSet()


def start(work: Callable[[], None], cancel: Callable[[], None]) -> threading.Thread:
    """Run ``work`` on a daemon thread. At exit, ``cancel`` is called and the thread is joined."""
    def main() -> None:
        try:
            work()
        finally:
            with _lock:
                _running.pop(thread, None)

    thread = threading.Thread(target=main, name="steno", daemon=True)
    with _lock:
        _running[thread] = cancel
    try:
        thread.start()
    except RuntimeError:
        with _lock:
            _running.pop(thread, None)
        raise
    return thread


def call(work: Callable[[], T], cancel: Callable[[], None]) -> T:
    """The result of ``work``. An interrupt while it runs cancels it: ``cancel`` is called until it has ended."""
    if threading.current_thread() is not threading.main_thread():
        return _call_elsewhere(work, cancel) # signals reach the main thread only
    box: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            box.append(work())
        except BaseException as e:  # it belongs to the caller
            failed.append(e)
        finally:
            done.set()

    start(run, cancel)
    try:
        done.wait()
    except BaseException:
        while not done.wait(0.002):
            cancel()
        raise
    if failed:
        raise failed[0]
    return box[0]


def _call_elsewhere(work: Callable[[], T], cancel: Callable[[], None]) -> T:
    key = object()
    with _lock:
        _elsewhere[key] = cancel
    try:
        if _interrupted:
            raise KeyboardInterrupt
        return work()
    finally:
        with _lock:
            _elsewhere.pop(key, None)


def _after_interrupt() -> None:
    """Ctrl-C has ended the main thread: end what other threads wait for, because Python joins them before it exits."""
    global _interrupted
    if getattr(sys, "last_type", None) is not KeyboardInterrupt:
        return
    _interrupted = True

    def cancel_all() -> None:
        while True:
            with _lock:
                left = [*_elsewhere.values(), *_running.values()]
            for cancel in left:
                cancel()
            time.sleep(0.002)

    threading.Thread(target=cancel_all, name="steno-exit", daemon=True).start()


def watch_fork(thing: Any) -> None:
    """Call ``thing._after_fork()`` in every child process: threads of the library do not exist there."""
    with _lock:
        _after_fork.add(thing)


def _forked() -> None:
    global _lock
    _lock = threading.Lock()
    _running.clear()
    _elsewhere.clear()
    for thing in list(_after_fork):
        thing._after_fork()


def _exit() -> None:
    with _lock:
        left = list(_running.items())
    for _, cancel in left:
        cancel()
    for thread, cancel in left:
        while thread.is_alive():
            cancel()
            thread.join(0.01)


atexit.register(_exit)
_before_join: Any = getattr(threading, "_register_atexit", None) # runs before Python joins threads
if _before_join is not None:
    _before_join(_after_interrupt)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
