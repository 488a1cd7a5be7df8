/* steno: from the microphone's samples to 16-bit samples at 24 kHz. SPDX-License-Identifier: MIT
 *
 * Runs on the browser's audio thread. Other rates go through a windowed sinc, which is kept from block to block. */
const RATE = 24000, CHUNK = 2400, HALF = 16; // a chunk is 100 ms; the filter has HALF zero crossings on each side

class Recorder extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ratio = sampleRate / RATE; // samples read for each one written
    this.width = HALF * Math.max(1, this.ratio);
    this.past = new Float32Array(0); // samples that the filter still needs
    this.at = 0;                     // place of the next sample in them
    this.chunk = new Int16Array(CHUNK);
    this.n = 0;
    this.peak = 0;
    this.port.onmessage = () => { this.flush(); this.port.postMessage(null); };
  }
  flush() {
    if (this.n) this.port.postMessage({ samples: this.chunk.slice(0, this.n), peak: this.peak });
    this.n = 0;
    this.peak = 0;
  }
  put(x) {
    this.peak = Math.max(this.peak, Math.abs(x));
    this.chunk[this.n++] = Math.max(-32768, Math.min(32767, Math.round(x * 32768)));
    if (this.n === CHUNK) this.flush();
  }
  sample(at) {
    const cut = 1 / Math.max(1, this.ratio);
    let sum = 0;
    for (let i = Math.max(0, Math.ceil(at - this.width)); i <= at + this.width; i++) {
      const x = (i - at) * cut, w = (i - at) / this.width;
      sum += this.past[i] * cut * (x ? Math.sin(Math.PI * x) / (Math.PI * x) : 1) * (0.5 + 0.5 * Math.cos(Math.PI * w));
    }
    return sum;
  }
  process(inputs) {
    const channels = inputs[0];
    if (!channels.length) return true;
    const mono = new Float32Array(channels[0].length);
    for (const c of channels) for (let i = 0; i < mono.length; i++) mono[i] += c[i] / channels.length;
    if (this.ratio === 1) {
      mono.forEach(x => this.put(x));
      return true;
    }
    const all = new Float32Array(this.past.length + mono.length);
    all.set(this.past);
    all.set(mono, this.past.length);
    this.past = all;
    for (; this.at + this.width < all.length - 1; this.at += this.ratio) this.put(this.sample(this.at));
    const done = Math.max(0, Math.floor(this.at - this.width));
    this.past = all.slice(done);
    this.at -= done;
    return true;
  }
}
registerProcessor("recorder", Recorder);
