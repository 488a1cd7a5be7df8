# steno: the page of `steno serve` in a headless Chromium, with a file as its microphone. SPDX-License-Identifier: MIT
#
# test_page.py [FOLDER]: also leaves pictures of the page in FOLDER.
import json
import os
import re
import sys

import browser
from serving import SPOKEN, Server, key_file, program, skip

SOUND = os.path.abspath(SPOKEN)
PICTURES = sys.argv[1] if len(sys.argv) > 1 else None


def written(form):
    return program("--word-timestamps", "-f", form, SOUND)


def look(b, name):
    """Pictures, and what they must have: no text is cut at phone width, and each text has enough contrast (WCAG 2.1, 4.5 to 1)."""
    for width, dark in ((900, False), (900, True), (320, False), (320, True)):
        b.look(width, 900, dark)
        wide = b.js("document.documentElement.scrollWidth")
        assert wide <= width, f"{name}: {wide} px wide in a window of {width}"
        faint = b.js("""(() => {
            const parts = c => c.match(/[0-9.]+/g).map(Number);
            const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, k, i) => {
                const v = c[i] / 255; return sum + k * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
            const back = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
                                if (c.length < 4 || c[3]) return c; } return [255, 255, 255]; };
            return [...document.querySelectorAll("body *")].filter(e => e.offsetParent && !e.disabled && !e.classList.contains("unseen") &&
                [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(e => {
                const a = light(parts(getComputedStyle(e).color)), b = light(back(e));
                return [e.textContent.trim().slice(0, 30), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; }).filter(x => x[1] < 4.5);
        })()""")
        assert not faint, f"{name}, {'dark' if dark else 'light'}: too little contrast: {faint}"
        if PICTURES:
            b.picture(os.path.join(PICTURES, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
    b.look(900, 900)


def check_names(b):
    """A screen reader has a name for each control."""
    tree = b.call("Accessibility.getFullAXTree")["nodes"]
    controls = [n for n in tree if not n.get("ignored") and n.get("role", {}).get("value") in
                ("button", "combobox", "checkbox", "textbox", "meter", "progressbar", "link")]
    bare = [n["role"]["value"] for n in controls if not n.get("name", {}).get("value", "").strip()]
    assert len(controls) >= 4 and not bare, "controls without a name: " + str(bare)


def check_file(b):
    b.choose_files("#files", SOUND)
    b.wait("document.querySelectorAll('.segment').length > 0")
    assert "times real time" in b.js("document.getElementById('status').textContent")
    for form in ("txt", "srt", "vtt"):
        b.js(f"document.querySelector('[data-save={form}]').click()")
        got, expected = b.downloaded("demo." + form), written(form)
        assert got == expected, f"{form}: the page writes {got}, the program {expected}"
    look(b, "file")
    check_names(b)


def check_playing(b):
    words = b.js("[...document.querySelectorAll('.word')].map(w => w.textContent)")
    assert words == written("txt").decode().split(), words
    b.js("document.querySelectorAll('.word')[2].click()")
    b.wait("!document.getElementById('player').paused")
    at = b.wait("document.getElementById('player').currentTime")
    assert 0.5 < at < 1.7, f"the third word is played from {at} s"
    b.wait("document.querySelectorAll('.word')[3].classList.contains('now')")
    b.js("document.getElementById('player').pause()")


def check_keyboard(b):
    """All is reached with the Tab key, in the order of the page; arrow keys choose a word."""
    reached = []
    b.js("document.activeElement.blur()")
    for _ in range(40):
        b.press("Tab")
        e = b.js("(e => e.id || e.dataset.save || e.className || e.parentNode.className || e.nodeName)(document.activeElement)")
        reached += [e] if e not in reached[-1:] else []
        if e == "segment":
            break
    order = ["model", "language", "files", "record", "player", "edit", "txt", "srt", "vtt", "json", "copy", "segment"]
    assert [e for e in reached if e in order] == order, reached
    outline = b.js("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "the focus is not visible"
    b.js("document.getElementById('player').currentTime = 0")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        b.press(key)
    assert b.js("document.querySelector('.here').textContent") == b.js("document.querySelectorAll('.word')[2].textContent")
    b.wait("!document.getElementById('player').paused && document.getElementById('player').currentTime > 0.5")
    b.js("document.getElementById('player').pause()")
    n = b.js("document.querySelectorAll('.segment').length")
    for _ in range(n):
        b.press("ArrowDown")
    assert b.js("document.activeElement === document.querySelectorAll('.segment > p')[%d]" % (n - 1))


def saved(b):
    path = os.path.join(b.downloads, "demo.json")
    if os.path.exists(path):
        os.unlink(path)
    b.js("document.querySelector('[data-save=json]').click()")
    return json.loads(b.downloaded("demo.json"))


def change(b, i, text):
    b.js("document.getElementById('edit').checked || document.getElementById('edit').click()")
    b.js("(a => { a.value = %s; a.dispatchEvent(new Event('change')); })(document.querySelectorAll('textarea')[%d])" %
         (json.dumps(text), i))


def check_correcting(b):
    """Words that are not changed keep their times; what replaces words has the times of these."""
    before = saved(b)
    old = [w["word"] for w in before["words"]]
    n = len(before["segments"][0]["text"].split())
    b.js("document.getElementById('edit').click()")
    look(b, "edit")
    check_names(b)
    change(b, 0, " ".join([old[0], "<b>4</b>", "and 5", *old[2:n]]))
    after = saved(b)
    assert after["segments"][0]["text"] == " ".join([old[0], "<b>4</b>", "and 5", *old[2:n]])
    assert [w["word"] for w in after["words"]] == [old[0], "<b>4</b> and 5", *old[2:]], after["words"]
    for i, w in enumerate(after["words"]):
        assert (w["start"], w["end"]) == (before["words"][i]["start"], before["words"][i]["end"])
    change(b, 0, "")
    assert len(saved(b)["words"]) == len(old) - n
    change(b, 0, before["segments"][0]["text"])
    assert not [w for w in saved(b)["words"] if w["word"] in ("", " ")]
    b.js("document.getElementById('edit').click()")
    assert b.js("document.querySelectorAll('#text b').length") == 0


def check_refusals(b):
    b.js("""(d => { d.items.add(new File(["this is text"], "bad.txt"));
                    dispatchEvent(new DragEvent("drop", { dataTransfer: d, cancelable: true })); })(new DataTransfer())""")
    b.wait("document.getElementById('error').textContent.includes('bad.txt')")
    look(b, "error")
    b.problems = [p for p in b.problems if "400" not in p]


def check_cancel(b):
    with open(SOUND, "rb") as f:
        data = f.read()
    head, samples = data[:44], data[44:] * 400
    path = os.path.join(b.folder, "long.wav")
    with open(path, "wb") as f:
        f.write(head[:4] + (36 + len(samples)).to_bytes(4, "little") + head[8:40] + len(samples).to_bytes(4, "little") + samples)
    b.choose_files("#files", path)
    b.wait("document.getElementById('status').textContent.includes('Transcribing')")
    b.js("document.getElementById('cancel').click()")
    b.wait("document.getElementById('error').textContent.includes('Cancelled') && document.getElementById('progress-row').hidden")


def check_microphone(b):
    b.js("document.getElementById('record').click()")
    b.wait("document.getElementById('record').textContent === 'Stop'")
    b.wait("document.getElementById('text').textContent.trim().length > 8")
    look(b, "recording")
    check_names(b)
    b.wait("new Promise(done => setTimeout(() => done(true), 2000))")
    b.js("document.getElementById('record').click()")
    b.wait("document.getElementById('record').textContent === 'Record' && !document.querySelector('.tools').hidden")
    text = b.js("document.getElementById('text').textContent")
    spoken = [w for w in re.findall("[a-z]+", written("txt").decode()) if w in text]
    assert len(spoken) >= 4, f"the microphone gave {text!r}"
    b.js("document.querySelector('.word').click()")
    b.wait("document.getElementById('player').duration > 2 && document.getElementById('player').currentTime > 0")
    assert not b.js("document.getElementById('error').textContent")


def address(s):
    return f"http://127.0.0.1:{s.port}/"


def check_keys(chromium):
    with key_file("# for the test", "open-sesame-0123456789") as keys, Server("--api-key-file", keys) as s:
        b = browser.Browser(chromium, SOUND)
        try:
            b.open(address(s))
            b.wait("!document.getElementById('key-form').hidden && document.activeElement.id === 'key'")
            look(b, "key")
            for key, ready in (("wrong", "document.getElementById('error').textContent.includes('not valid')"),
                               ("open-sesame-0123456789", "document.querySelectorAll('#model option').length")):
                b.js("document.getElementById('key').value = '%s'; document.querySelector('#key-form button').click()" % key)
                b.wait(ready)
            assert b.js("document.getElementById('key').value") == ""
            b.choose_files("#files", SOUND)
            b.wait("document.querySelectorAll('.segment').length > 0")
            b.problems = [p for p in b.problems if "401" not in p]
            check_microphone(b)
            assert not b.problems, b.problems
        finally:
            b.close()


def check_page(chromium):
    with Server() as s:
        b = browser.Browser(chromium, SOUND)
        try:
            b.keep_downloads()
            b.open(address(s))
            b.wait("document.querySelectorAll('#model option').length")
            look(b, "empty")
            for check in (check_file, check_playing, check_keyboard, check_correcting, check_refusals, check_cancel, check_microphone):
                check(b)
                print(check.__name__)
            others = [u for u in b.requests if not u.startswith((address(s), address(s).replace("http", "ws"), "blob:", "data:"))]
            assert not others, "the page loads from elsewhere: " + str(others)
            assert not b.problems, b.problems
        finally:
            b.close()


def main():
    chromium = browser.find()
    if not chromium:
        skip("there is no Chromium")
    check_page(chromium)
    check_keys(chromium)


main()
