# steno: a headless Chromium, driven by the DevTools protocol over two pipes. SPDX-License-Identifier: MIT
import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")


def find():
    return os.environ.get("CHROMIUM") or next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    """One page. `sound`: a WAV file that is the microphone."""

    def __init__(self, program, sound=None):
        self.folder = tempfile.mkdtemp(prefix="steno-browser-")
        self.downloads = os.path.join(self.folder, "downloads")
        self.problems = []  # errors that the page reports
        self.requests = []  # URLs that it loads
        self.answers = {}
        self.n = 0
        self.changed = threading.Condition()
        read_there, self.to = os.pipe()
        self.source, write_there = os.pipe()
        options = [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + os.path.join(self.folder, "profile"), "--disable-gpu",
            "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--mute-audio",
            "--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
            "--hide-scrollbars", "--disable-extensions", "--disable-sync", "--no-default-browser-check"]
        if os.getuid() == 0:
            options.append("--no-sandbox")
        if sound:
            options.append("--use-file-for-fake-audio-capture=" + sound + "%noloop")
        script = 'exec "$0" "$@" 3<&%d 4>&%d' % (read_there, write_there)
        self.child = subprocess.Popen(["bash", "-c", script, program, *options, "about:blank"], pass_fds=(read_there, write_there),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      start_new_session=True)
        os.close(read_there)
        os.close(write_there)
        threading.Thread(target=self.read, daemon=True).start()
        self.session = None
        deadline = time.monotonic() + 60
        pages = []
        while not pages and time.monotonic() < deadline:
            pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Network"):
            self.call(domain + ".enable")

    def read(self):
        rest = b""
        while True:
            more = os.read(self.source, 1 << 16)
            if not more:
                break
            *messages, rest = (rest + more).split(b"\0")
            for m in map(json.loads, messages):
                with self.changed:
                    if "id" in m:
                        self.answers[m["id"]] = m
                    self.note(m)
                    self.changed.notify_all()

    def note(self, m):
        p = m.get("params", {})
        if m.get("method") == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        if m.get("method") == "Runtime.exceptionThrown":
            self.problems.append(p["exceptionDetails"].get("exception", {}).get("description") or p["exceptionDetails"]["text"])
        if m.get("method") == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.problems.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))

    def call(self, method, **params):
        self.n += 1
        n = self.n
        message = {"id": n, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        with self.changed:
            if not self.changed.wait_for(lambda: n in self.answers, 60):
                raise RuntimeError(method + ": no answer of the browser")
            m = self.answers.pop(n)
        if "error" in m:
            raise RuntimeError(method + ": " + m["error"]["message"])
        return m["result"]

    def js(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in r:
            raise RuntimeError(expression + ": " + str(r["exceptionDetails"].get("exception", {}).get("description")))
        return r["result"].get("value")

    def wait(self, expression, seconds=60):
        """Waits until the expression is true. @return its value"""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.js(expression)
            if value:
                return value
            time.sleep(0.05)
        raise RuntimeError("not true after %d s: %s; the page has: %s" % (seconds, expression, self.js("document.body.innerText")))

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def choose_files(self, selector, *paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=list(paths))

    def press(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}.get(key, 0))

    def keep_downloads(self):
        os.makedirs(self.downloads, exist_ok=True)
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)

    def downloaded(self, name, seconds=20):
        path = os.path.join(self.downloads, name)
        deadline = time.monotonic() + seconds
        while not os.path.exists(path):
            if time.monotonic() > deadline:
                raise RuntimeError("no download " + name + " in " + str(os.listdir(self.downloads)))
            time.sleep(0.05)
        with open(path, "rb") as f:
            return f.read()

    def look(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def close(self):
        try:
            session, self.session = self.session, None
            self.call("Browser.close") if session else None
            self.child.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()
        os.close(self.to)
        shutil.rmtree(self.folder, ignore_errors=True)
