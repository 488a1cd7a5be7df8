/* steno: the page's controls. SPDX-License-Identifier: MIT
 *
 * URLs are relative to the page, so that it works below a prefix. Texts enter the page as text, never as markup. */
import { clock, correct, isTimed, transcriptOf, writers } from "./transcript.js";
import { record, wavOf } from "./live.js";

const byId = id => document.getElementById(id);
const base = new URL(".", location.href);
let key = "";           // in memory only
const jobs = [];        // { name, file, url, state, text, transcript, message }
let shown = null, running = null, recording = null;

function make(tag, fields = {}, ...children) {
  const e = Object.assign(document.createElement(tag), fields);
  e.append(...children);
  return e;
}
const headers = () => key ? { Authorization: "Bearer " + key } : {};
const report = text => { byId("error").textContent = text; };
const status = text => { byId("status").textContent = text; };
const reason = (code, text) => {
  try { return JSON.parse(text).error.message; } catch { return code ? `the server answers ${code}` : "the server does not answer"; }
};

/* ---- settings ---------------------------------------------------------------------------------------------------------------- */

let models = [];

async function loadModels() {
  const answer = await fetch(new URL("v1/models", base), { headers: headers() }).catch(() => null);
  const text = answer ? await answer.text() : "";
  byId("key-form").hidden = answer?.status !== 401;
  byId("settings").hidden = byId("drop").hidden = answer?.status === 401;
  if (answer?.status === 401) {
    report(key ? "This key is not valid. Enter another one." : "");
    key = "";
    byId("key").focus();
    return;
  }
  if (!answer?.ok) return report("Models: " + reason(answer?.status, text) + ". Reload the page to try again.");
  report("");
  models = JSON.parse(text).data.filter(m => m.tasks.includes("transcribe"));
  byId("model").replaceChildren(...models.map(m => make("option", { value: m.id, textContent: m.id })));
  showModel();
}

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
const languageName = code => { try { return names.of(code); } catch { return code; } };

/* Answers name a language in English, or by its code; speech of a screen reader needs the code. */
function languageCode(language) {
  const name = language.toLowerCase(), codes = models.flatMap(m => m.languages || []);
  return codes.find(code => code === name || languageName(code).toLowerCase() === name) || "";
}

function showModel() {
  const model = models.find(m => m.id === byId("model").value) || {};
  const list = (model.languages || []).map(code => ({ code, name: languageName(code) }));
  const chosen = byId("language").value;
  list.sort((a, b) => a.name.localeCompare(b.name));
  byId("language").replaceChildren(make("option", { value: "", textContent: "Detect" }),
    ...list.map(l => make("option", { value: l.code, textContent: l.name })));
  byId("language").value = list.some(l => l.code === chosen) ? chosen : "";
  byId("task-row").hidden = !(model.tasks || []).some(t => /translat/.test(t));
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

/* A request whose progress is known in both directions, which fetch does not report. @param on  { sent(part), text(all), end() } */
function post(path, form, on) {
  const request = new XMLHttpRequest();
  request.open("POST", new URL(path, base));
  Object.entries(headers()).forEach(([name, value]) => request.setRequestHeader(name, value));
  request.upload.onprogress = e => e.lengthComputable && on.sent(e.loaded / e.total);
  request.upload.onload = () => on.sent(1);
  request.onprogress = () => request.status === 200 && on.text(request.responseText);
  request.onloadend = () => on.end(request);
  request.send(form);
  return request;
}

/* Events of a stream, from what has arrived; calls each(event) for those that are complete. @return the place after them */
function readEvents(text, from, each) {
  for (let end; (end = text.indexOf("\n\n", from)) >= 0; from = end + 2) {
    for (const line of text.slice(from, end).split("\n")) {
      if (line.startsWith("data: ") && line !== "data: [DONE]") each(JSON.parse(line.slice(6)));
    }
  }
  return from;
}

function formOf(job, granularities) {
  const form = new FormData();
  form.append("model", byId("model").value);
  if (byId("language").value && job.path.endsWith("transcriptions")) form.append("language", byId("language").value);
  form.append("response_format", "verbose_json");
  form.append("stream", "true");
  granularities.forEach(g => form.append("timestamp_granularities[]", g));
  form.append("file", job.file, job.name);
  return form;
}

function runJob(job, granularities = ["segment", "word"]) {
  let at = 0, began = 0, position = 0, failure = "";
  const timer = setInterval(() => {
    if (!began) return;
    const seconds = (performance.now() - began) / 1000, length = player.duration;
    if (shown === job && position && Number.isFinite(length)) byId("progress").value = Math.min(1, position / length);
    byId("figures").textContent = position ? `${clock(position)} of audio, ${(position / seconds).toFixed(1)} times real time`
                                           : `${clock(seconds)} so far`;
  }, 250);
  running = job;
  job.state = "running";
  job.text = "";
  showProgress("Uploading " + job.name);
  showJobs();
  const event = e => {
    if (e.error) failure = e.error.message;
    if (e.type === "transcript.text.delta") {
      job.text += e.delta;
      position = e.end ?? position;
      if (shown === job) byId("text").append(e.delta);
    }
    if (e.type === "transcript.text.done") job.transcript = transcriptOf(e);
  };
  job.request = post(job.path, formOf(job, granularities), {
    sent: part => {
      byId("progress").value = part;
      byId("figures").textContent = `${Math.round(part * 100)} % sent`;
      if (part < 1 || began) return;
      began = performance.now();
      showProgress("Transcribing " + job.name);
    },
    text: all => { at = readEvents(all, at, event); },
    end: request => {
      clearInterval(timer);
      if (request.status === 200) readEvents(request.responseText, at, event);
      else failure = request.wasCancelled ? "" : reason(request.status, request.responseText);
      if (request.status === 400 && granularities.length > 1 && /timestamp_granularities/.test(request.responseText)) {
        return runJob(job, ["segment"]); // the model has no times of words
      }
      if (request.status === 401) loadModels();
      endJob(job, request.wasCancelled, failure, (performance.now() - began) / 1000);
    },
  });
}

function endJob(job, wasCancelled, failure, seconds) {
  running = null;
  byId("progress-row").hidden = true;
  job.state = job.transcript ? "done" : wasCancelled ? "cancelled" : "failed";
  if (job.state === "done") {
    const length = job.transcript.duration;
    const speed = `of audio in ${seconds.toFixed(1)} s, ${(length / seconds).toFixed(1)} times real time`;
    status(`${job.name}: ${length ? clock(length) + " " + speed : "done"}`);
  } else {
    status("");
    job.message = wasCancelled ? "Cancelled." : failure || "the connection ended before the transcript was complete. Try again.";
    if (!job.message.startsWith(job.name)) job.message = `${job.name}: ${job.message}`;
    report(job.message);
  }
  if (shown === job) showResult(job);
  showJobs();
  nextJob();
}

function nextJob() {
  const job = jobs.find(j => j.state === "waiting");
  if (job && !running && !recording) runJob(job);
}

function addFiles(files) {
  report("");
  for (const file of files) {
    const path = "v1/audio/" + (byId("task-row").hidden ? "transcriptions" : byId("task").value);
    jobs.push({ name: file.name, file, path, url: URL.createObjectURL(file), state: "waiting", text: "" });
    if (!shown || shown.state === "done" || !running) showResult(jobs[jobs.length - 1]);
  }
  showJobs();
  nextJob();
}

function showProgress(text) {
  byId("progress-row").hidden = false;
  byId("progress").removeAttribute("value");
  byId("figures").textContent = "";
  status(text);
}

/* ---- microphone -------------------------------------------------------------------------------------------------------------- */

function segmentOf(job, id) {
  let s = job.transcript.segments.find(x => x.id === id);
  if (!s) job.transcript.segments.push(s = { id, start: null, end: null, text: "", words: [], found: [] });
  return s;
}

const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]$/u;
const after = (text, more) => (!text || unspaced.test(text) || /^\s/.test(more) ? "" : " ") + more;

function changeItem(job, id, fields) {
  const s = segmentOf(job, id);
  if (fields.delta) s.text += fields.delta;
  if (fields.words) s.found.push(...fields.words);
  if (fields.start !== undefined) s.start = fields.start;
  if (fields.end !== undefined) s.end = fields.end;
  if (fields.language) job.transcript.language = fields.language;
  if (fields.text !== undefined) {
    Object.assign(s, transcriptOf({ segments: [{ ...s, text: fields.text }], words: s.found }).segments[0]);
    s.start ??= s.words[0]?.start ?? null;
    s.end ??= s.words.at(-1)?.end ?? null;
  }
  const line = job.lines.get(id) || make("p", {}, make("span"), make("span", { className: "partial" }));
  if (!job.lines.has(id)) byId("text").append(line);
  job.lines.set(id, line);
  line.lastChild.setAttribute("aria-live", "off");
  if (fields.partial !== undefined) line.lastChild.textContent = after(s.text, fields.partial);
  else line.firstChild.textContent = s.text;
  if (fields.text !== undefined) line.lastChild.textContent = "";
}

async function startRecording() {
  const button = byId("record");
  const now = new Date(), name = `Recording ${now.toLocaleTimeString()}`;
  const job = { name, url: "", state: "running", text: "", lines: new Map(),
                transcript: { language: byId("language").value || null, duration: null, segments: [] } };
  report("");
  button.disabled = true;
  recording = { stop() {} };
  try {
    jobs.push(job);
    showResult(job);
    recording = await record(base, headers(), { model: byId("model").value, language: byId("language").value }, {
      item: (id, fields) => changeItem(job, id, fields),
      partial: (id, text) => changeItem(job, id, { partial: text }),
      level: peak => { byId("level").value = peak; },
      failed: message => report(message),
      ended: chunks => endRecording(job, chunks),
    });
    button.setAttribute("aria-pressed", "true");
    button.textContent = "Stop";
    byId("level-row").hidden = false;
    status("Recording");
  } catch (e) {
    jobs.pop();
    recording = null;
    showResult(null);
    report(e.name === "NotAllowedError" ? "The browser does not allow this page to use the microphone." :
           e.name === "NotFoundError" ? "There is no microphone." : e.message);
  }
  button.disabled = false;
  showJobs();
}

function endRecording(job, chunks) {
  const t = job.transcript;
  recording = null;
  byId("record").setAttribute("aria-pressed", "false");
  byId("record").textContent = "Record";
  byId("record").disabled = false;
  byId("level-row").hidden = true;
  t.segments = t.segments.filter(s => s.text.trim());
  t.duration = chunks.reduce((sum, c) => sum + c.byteLength, 0) / 48000;
  job.url = URL.createObjectURL(wavOf(chunks));
  job.state = "done";
  status(`${job.name}: ${clock(t.duration)} of audio`);
  showResult(job);
  showJobs();
  nextJob();
}

/* ---- a transcript ------------------------------------------------------------------------------------------------------------ */

const player = byId("player");
let spans = []; // { span, start, end } of the words that are shown, in order

function showJobs() {
  const marks = { waiting: "waiting", running: "running", failed: "failed", cancelled: "cancelled", done: "" };
  byId("jobs").hidden = jobs.length < 2;
  byId("jobs").replaceChildren(...jobs.map(job => {
    const b = make("button", { type: "button", textContent: job.name + (marks[job.state] ? ` (${marks[job.state]})` : "") });
    if (job === shown) b.setAttribute("aria-current", "true");
    b.onclick = () => { report(job.message || ""); showResult(job); showJobs(); };
    return b;
  }));
}

function showResult(job) {
  shown = job;
  byId("result").hidden = !job;
  if (!job) return;
  const isDone = job.state === "done";
  byId("result-name").textContent = job.name;
  byId("text").setAttribute("aria-live", isDone ? "off" : "polite"); // new text is read, a whole transcript is not
  if (player.dataset.url !== job.url) {
    player.dataset.url = job.url;
    if (job.url) player.src = job.url; else player.removeAttribute("src");
  }
  player.hidden = !job.url || job.state === "failed";
  document.querySelectorAll(".tools, #hint").forEach(e => { e.hidden = !isDone; });
  document.querySelectorAll("[data-save]").forEach(b => {
    const lacksTimes = isDone && writers[b.dataset.save].timed && !isTimed(job.transcript);
    b.disabled = lacksTimes;
    b.title = lacksTimes ? "This model gives no times." : "";
  });
  if (isDone) showTranscript();
  else byId("text").replaceChildren(...(job.lines ? job.lines.values() : [job.text]));
}

function showTranscript() {
  const t = shown.transcript, edits = byId("edit").checked, text = byId("text");
  spans = [];
  text.lang = languageCode(t.language || "");
  if (!t.segments.length) {
    text.replaceChildren(make("p", { className: "hint", textContent: "There is no speech in this recording." }));
    return;
  }
  text.replaceChildren(...t.segments.map((s, i) => {
    const play = make("button", { type: "button", textContent: s.start === null ? "–" : clock(s.start), disabled: s.start === null });
    play.setAttribute("aria-label", s.start === null ? "Time not known" : `Play from ${clock(s.start)}`);
    play.onclick = () => playFrom(s.start);
    play.tabIndex = edits ? 0 : -1; // Enter plays a paragraph
    return make("div", { className: "segment" }, play, edits ? editor(s, i) : reader(s, i));
  }));
}

function editor(segment, i) {
  const rows = Math.max(1, Math.ceil(segment.text.length / 60));
  const area = make("textarea", { value: segment.text, rows, dir: "auto", spellcheck: true });
  area.setAttribute("aria-label", `Text ${i + 1}`);
  area.onchange = () => correct(segment, area.value.replace(/\s+/g, " ").trim());
  return area;
}

function reader(segment, i) {
  const p = make("p", { dir: "auto", tabIndex: i ? -1 : 0 });
  let at = 0;
  for (const w of segment.words) {
    const span = make("span", { className: "word", textContent: segment.text.slice(w.from, w.to) });
    p.append(segment.text.slice(at, w.from), span);
    if (w.start !== null) spans.push({ span, start: w.start, end: w.end ?? w.start });
    span.onclick = () => playFrom(w.start);
    at = w.to;
  }
  p.append(segment.text.slice(at));
  if (!segment.words.length) p.onclick = () => playFrom(segment.start);
  return p;
}

function playFrom(seconds) {
  if (seconds === null) return;
  player.currentTime = seconds;
  player.play().catch(() => report("The browser cannot play this file. Its text is complete."));
}

/* The text is one stop of the Tab key. Up and down move to a paragraph, left and right to a word; Enter plays what has the mark. */
function moveMark(e) {
  const here = e.target, step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (here.nodeName !== "P" || !(step || e.key === "Enter")) return;
  const all = [...byId("text").querySelectorAll(e.key === "ArrowDown" || e.key === "ArrowUp" ? ".segment > p" : ".word")];
  const marked = byId("text").querySelector(".here");
  e.preventDefault();
  if (e.key === "Enter") return (marked || here).matches("p") ? here.previousSibling.click() : marked.click();
  const at = all.indexOf(all[0]?.matches("p") ? here : marked);
  const next = at >= 0 ? all[at + step] : all.find(w => here.contains(w));
  if (!next) return;
  const p = next.closest("p");
  marked?.classList.remove("here");
  here.tabIndex = -1;
  p.tabIndex = 0;
  p.focus();
  if (next === p) return;
  next.classList.add("here");
  byId("word").textContent = next.textContent;
}

function markPlaying() {
  const now = player.currentTime;
  for (const s of spans) s.span.classList.toggle("now", !player.paused && s.start <= now && now < s.end);
}

function save(kind) {
  const writer = writers[kind];
  const url = URL.createObjectURL(new Blob([writer.write(shown.transcript)], { type: writer.type }));
  make("a", { href: url, download: shown.name.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}._ -]/gu, "_") + "." + kind }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* ---- events of the page ------------------------------------------------------------------------------------------------------ */

byId("files").onchange = e => { addFiles(e.target.files); e.target.value = ""; };
byId("model").onchange = showModel;
byId("key-form").onsubmit = e => { e.preventDefault(); key = byId("key").value.trim(); byId("key").value = ""; loadModels(); };
byId("settings").onsubmit = e => e.preventDefault();
byId("cancel").onclick = () => { if (running) { running.request.wasCancelled = true; running.request.abort(); } };
byId("record").onclick = () => {
  if (!recording) return startRecording();
  byId("record").disabled = true;
  status("Waiting for the last words");
  recording.stop();
};
byId("edit").onchange = showTranscript;
byId("copy").onclick = () => navigator.clipboard.writeText(writers.txt.write(shown.transcript)).then(() => status("Copied"),
  () => report("The browser does not allow copying here. Save the text as a file."));
document.querySelectorAll("[data-save]").forEach(b => { b.onclick = () => save(b.dataset.save); });
byId("text").addEventListener("keydown", moveMark);
player.addEventListener("timeupdate", markPlaying);
player.addEventListener("pause", markPlaying);
["dragover", "drop", "dragleave"].forEach(kind => addEventListener(kind, e => {
  e.preventDefault();
  byId("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop" && e.dataTransfer.files.length) addFiles(e.dataTransfer.files);
}));
addEventListener("beforeunload", e => { if (running || recording) e.preventDefault(); });
loadModels();
