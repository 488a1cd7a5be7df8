/* steno: the microphone through /v1/realtime. SPDX-License-Identifier: MIT */
const RATE = 24000, PREFIX = "conversation.item.input_audio_transcription.";
const END_MS = 30000; // how long the last text may take

const base64 = bytes => {
  let s = "";
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s);
};

/* Samples as a WAV file, so that the recording can be played. */
export function wavOf(chunks) {
  const n = chunks.reduce((sum, c) => sum + c.byteLength, 0), head = new DataView(new ArrayBuffer(44));
  const text = (at, s) => [...s].forEach((c, i) => head.setUint8(at + i, c.charCodeAt(0)));
  text(0, "RIFF"), text(8, "WAVEfmt "), text(36, "data");
  head.setUint32(4, 36 + n, true), head.setUint32(16, 16, true), head.setUint16(20, 1, true), head.setUint16(22, 1, true);
  head.setUint32(24, RATE, true), head.setUint32(28, RATE * 2, true), head.setUint16(32, 2, true), head.setUint16(34, 16, true);
  head.setUint32(40, n, true);
  return new Blob([head, ...chunks], { type: "audio/wav" });
}

/* A context at 24 kHz; where the browser cannot connect a microphone to one, audio.js changes the rate. */
async function microphone(stream, onChunk) {
  let context, source;
  try {
    context = new AudioContext({ sampleRate: RATE });
    source = context.createMediaStreamSource(stream);
  } catch {
    context = new AudioContext();
    source = context.createMediaStreamSource(stream);
  }
  await context.audioWorklet.addModule(new URL("audio.js", import.meta.url));
  const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
  let flushed = () => {};
  node.port.onmessage = e => e.data ? onChunk(e.data.samples, e.data.peak) : flushed();
  source.connect(node);
  await context.resume();
  return async () => {
    source.disconnect();
    const rest = new Promise(done => { flushed = done; node.port.postMessage("flush"); });
    await Promise.race([rest, new Promise(done => setTimeout(done, 500))]);
    stream.getTracks().forEach(t => t.stop());
    await context.close();
  };
}

/* Opens the socket; with a key, by a secret that is valid for a minute, because browsers cannot set headers here. */
async function connect(base, headers) {
  const protocols = ["realtime"];
  if (headers.Authorization) {
    const answer = await fetch(new URL("v1/realtime/client_secrets", base), {
      method: "POST", headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ expires_after: { anchor: "created_at", seconds: 60 }, session: { type: "transcription" } }) });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.error?.message || `the server answers ${answer.status}`);
    protocols.push("openai-insecure-api-key." + body.value);
  }
  const url = new URL("v1/realtime?intent=transcription", base);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url, protocols);
  await new Promise((done, failed) => {
    socket.onopen = done;
    socket.onclose = () => failed(new Error("the server refuses a live session: it may be full, or it has no model for live text"));
  });
  return socket;
}

/* Records until stop() is called. @param on  { item(id, fields), partial(text), level(peak), failed(message), ended(chunks) }; fields of an
 * item: start, end (seconds), delta and words (more of them), text (the whole text), language. @return { stop } */
export async function record(base, headers, settings, on) {
  if (!navigator.mediaDevices) throw new Error("the browser records only on pages from https or from localhost");
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, autoGainControl: true } });
  const chunks = [], open = new Set();
  let socket, stopped = false, last = false, finish = () => {};
  try {
    socket = await connect(base, headers);
  } catch (e) {
    stream.getTracks().forEach(t => t.stop());
    throw e;
  }
  const send = event => socket.readyState === 1 && socket.send(JSON.stringify(event));
  const check = () => last && !open.size && finish();
  const events = {
    "error": e => stopped && e.error.code === "input_audio_buffer_commit_empty" ? (last = true) : on.failed(e.error.message),
    "input_audio_buffer.speech_started": e => on.item(e.item_id, { start: e.audio_start_ms / 1000 }),
    "input_audio_buffer.speech_stopped": e => on.item(e.item_id, { end: e.audio_end_ms / 1000 }),
    "input_audio_buffer.committed": e => {
      open.add(e.item_id);
      on.item(e.item_id, {});
      if (stopped) setTimeout(() => { last = true; check(); }, 300); // a turn that ended by itself may precede the answer to commit
    },
    "steno.partial": e => on.partial(e.item_id, e.text),
    [PREFIX + "delta"]: e => on.item(e.item_id, { delta: e.delta, words: e.words || [] }),
    [PREFIX + "completed"]: e => {
      open.delete(e.item_id);
      on.item(e.item_id, { text: e.transcript, language: e.languages?.[0]?.code });
    },
    [PREFIX + "failed"]: e => { open.delete(e.item_id); on.failed(e.error.message); },
  };
  socket.onmessage = m => {
    const e = JSON.parse(m.data);
    events[e.type]?.(e);
    check();
  };
  socket.onclose = e => {
    if (e.code !== 1000) on.failed(`The live session ended (${e.code}${e.reason ? ": " + e.reason : ""}).`);
    stop();
    finish();
  };
  send({ type: "session.update", session: { type: "transcription", include: ["steno.partial", "steno.words"], audio: { input: {
    format: { type: "audio/pcm", rate: RATE }, turn_detection: { type: "server_vad" },
    transcription: { model: settings.model || undefined, language: settings.language || null } } } } });
  const close = await microphone(stream, (samples, peak) => {
    const bytes = new Uint8Array(samples.buffer);
    chunks.push(bytes);
    on.level(peak);
    send({ type: "input_audio_buffer.append", audio: base64(bytes) });
  });
  async function stop() {
    if (stopped) return;
    await close();
    stopped = true;
    const done = new Promise(resolve => { finish = resolve; });
    if (socket.readyState === 1) {
      send({ type: "input_audio_buffer.commit" });
      await Promise.race([done, new Promise(resolve => setTimeout(resolve, END_MS))]);
      socket.onclose = null;
      socket.close(1000);
    }
    on.ended(chunks);
  }
  return { stop };
}
