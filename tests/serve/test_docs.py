# steno: doc/serve.md and the files in doc/examples/serve are those of this program. SPDX-License-Identifier: MIT
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from serving import SOURCE, STENO, Server, until

EXAMPLES = os.path.join(SOURCE, "doc/examples/serve")
problems = []


def check(right, what):
    if not right:
        problems.append(what)


def text_of(path):
    with open(path) as f:
        return f.read()


def check_options(help_text):
    """An option that a document names exists, and the operators' page names each one that only this verb has."""
    help_text = help_text.replace("[no-]", "")
    known = set(re.findall(r"--[a-z][a-z0-9-]*", help_text))
    manual = text_of(os.path.join(SOURCE, "doc/serve.md"))
    lines = [l for l in manual.split("\n") if not re.search(r"curl|podman|openssl|--stop-timeout|--secret", l)]
    for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", "\n".join(lines)):
        known_as = option.replace("--no-", "--")
        check(option in known or known_as in known or option == "--help", "doc/serve.md names " + option + ", which does not exist")
    for example in glob.glob(EXAMPLES + "/*") + [os.path.join(SOURCE, "packaging/Containerfile")]:
        for command in re.findall(r"steno serve (.*)|ENTRYPOINT (.*)|^CMD (.*)", text_of(example), re.M):
            for option in re.findall(r"--[a-z][a-z0-9-]*", " ".join(command)):
                check(option in known, os.path.basename(example) + " uses " + option + ", which does not exist")
    own = help_text[:help_text.index("Defaults of requests")]
    for option in re.findall(r"^ +(?:-\w, +)?(--[a-z][a-z0-9-]*)", own, re.M):
        check(option in manual or option in ("--demo", "--ingest", "--spool"), "doc/serve.md lacks " + option)


def check_names():
    """Routes, metrics, and keys of the log."""
    manual = text_of(os.path.join(SOURCE, "doc/serve.md"))
    with Server() as s:
        routes = json.loads(s.request("GET", "/openapi.json")[2])["paths"]
        metrics = re.findall(r"^# TYPE (\S+)", s.request("GET", "/metrics")[2].decode(), re.M)
        line = json.loads(until(lambda: next((l for l in s.log if l.startswith("{")), None)))
        check(any(l.startswith("steno: serving ") for l in s.log), "no line begins with steno: serving")
    table = re.search(r"\n## Routes\n(.*?)\n\n", manual, re.S)[1]
    named = re.findall(r"(?<=[` ])(/[a-z][\w./-]*)(?=`)", table)
    check(len(named) > 12, "the table of routes has " + str(named))
    for route in named:
        check(route in routes, "doc/serve.md names the route " + route + ", which does not exist")
    for name in re.findall(r"\b(?:steno_|vllm:|llamacpp:)\w+", manual):
        check(re.sub(r"_bucket$", "", name) in metrics, "doc/serve.md names the metric " + name + ", which does not exist")
    for name in re.findall(r"jq .*?select\(\.(\w+)", manual):
        check(name in line, "doc/serve.md selects lines of the log by " + name + ", which they do not have")


def check_unit():
    if not shutil.which("systemd-analyze"):
        return print("systemd-analyze is not installed: units are not checked")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("steno.service", "steno.socket"):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text_of(os.path.join(EXAMPLES, name)).replace("/usr/local/bin/steno", "/bin/true"))
        units = [os.path.join(folder, name) for name in ("steno.service", "steno.socket")]
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
        check(done.returncode == 0 and not re.search(r"steno\.(service|socket):", done.stderr), "systemd-analyze verify: " + done.stderr)
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", units[0]], capture_output=True, text=True)
        known = re.search(r"exposure level for steno.service: (\S+)", done.stdout)
        if not known:
            return print("this systemd-analyze does not judge files: " + done.stderr.strip())
        check(float(known[1]) <= 2, "the exposure of steno.service is " + known[1])


def check_proxies():
    if shutil.which("nginx") and shutil.which("openssl"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder + "/key.pem", "-out",
                            folder + "/cert.pem", "-days", "2", "-subj", "/CN=localhost"], capture_output=True, check=True)
            own = re.sub(r"/etc/ssl/certs/\S+;", folder + "/cert.pem;", text_of(EXAMPLES + "/nginx.conf"))
            own = re.sub(r"/etc/ssl/private/\S+;", folder + "/key.pem;", own)
            with open(folder + "/nginx.conf", "w") as f:
                f.write(f"pid {folder}/pid; error_log stderr;\nevents {{}}\nhttp {{ access_log off;\n{own}}}\n")
            done = subprocess.run(["nginx", "-t", "-c", folder + "/nginx.conf"], capture_output=True, text=True)
            check(done.returncode == 0, "nginx.conf: " + done.stderr)
    else:
        print("nginx is not installed: its file is not checked")
    if shutil.which("caddy"):
        done = subprocess.run(["caddy", "validate", "--adapter", "caddyfile", "--config", EXAMPLES + "/Caddyfile"], capture_output=True,
                              text=True)
        check(done.returncode == 0, "Caddyfile: " + done.stderr)
    else:
        print("caddy is not installed: its file is not checked")


def main():
    check_unit()
    check_proxies()
    check_options(subprocess.run([STENO, "serve", "--help-all"], capture_output=True, text=True).stdout)
    check_names()
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
