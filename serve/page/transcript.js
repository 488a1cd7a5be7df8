/* steno: a transcript, its corrections and its files. SPDX-License-Identifier: MIT
 *
 * A segment is { start, end, text, words }, in seconds; a time that is not known is null. A word is a place in the text of its segment and
 * its times: { from, to, start, end }. */

/* Words of the answer are found in the texts of its segments, in order: scripts without spaces need no rule of their own. */
export function transcriptOf(answer) {
  const words = answer.words || [];
  let w = 0;
  const segments = (answer.segments || []).map(s => {
    const segment = { start: s.start ?? null, end: s.end ?? null, text: s.text.trim(), words: [] };
    let at = 0;
    for (; w < words.length; w++) {
      const text = words[w].word.trim(), from = segment.text.indexOf(text, at);
      if (from < 0 || (segment.end !== null && words[w].start !== null && words[w].start > segment.end + 0.5)) break;
      at = from + text.length;
      if (text) segment.words.push({ from, to: at, start: words[w].start ?? null, end: words[w].end ?? null });
    }
    return segment;
  });
  if (!segments.length && answer.text) segments.push({ start: null, end: null, text: answer.text.trim(), words: [] });
  return { language: answer.language || null, duration: answer.duration ?? null, segments };
}

/* Gives a segment another text. Words that were not changed keep their times. What stands between them has the times of the words that it
 * replaces. */
export function correct(segment, text) {
  const old = segment.text, n = Math.min(old.length, text.length);
  if (old === text) return;
  let head = 0, tail = 0;
  while (head < n && old[head] === text[head]) head++;
  while (tail < n - head && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
  const shift = text.length - old.length, end = old.length - tail;
  const inside = /[\p{L}\p{N}]/u;
  const joined = (a, b) => inside.test(a || "") && inside.test(b || "");
  const isBefore = w => w.to <= head && !(w.to === head && joined(text[head - 1], text[head]));
  const isAfter = w => w.from >= end && !(w.from === end && joined(text[end + shift - 1], text[end + shift]));
  const before = segment.words.filter(isBefore), rest = segment.words.filter(w => !isBefore(w));
  const after = rest.filter(isAfter), lost = rest.filter(w => !isAfter(w));
  after.forEach(w => { w.from += shift; w.to += shift; });
  let from = Math.min(head, ...lost.map(w => w.from)), to = Math.max(end, ...lost.map(w => w.to)) + shift;
  while (from < to && text[from] === " ") from++;
  while (to > from && text[to - 1] === " ") to--;
  const changed = lost.length && from < to ? [{ from, to, start: lost[0].start, end: lost[lost.length - 1].end }] : [];
  segment.words = [...before, ...changed, ...after];
  segment.text = text;
}

function stamp(seconds, mark, needsHours) {
  const ms = Math.round(seconds * 1000), two = n => String(n).padStart(2, "0");
  const h = Math.floor(ms / 3600000), m = Math.floor(ms / 60000) % 60, s = Math.floor(ms / 1000) % 60;
  return (h || needsHours ? two(h) + ":" : "") + two(m) + ":" + two(s) + mark + String(ms % 1000).padStart(3, "0");
}
const cue = text => text.trim().replaceAll("-->", "->");

/* The layout of OpenAI's writers. */
export const writers = {
  txt: { type: "text/plain", write: t => t.segments.map(s => s.text.trim() + "\n").join("") },
  srt: { type: "application/x-subrip", timed: true, write: t => t.segments.map((s, i) =>
    `${i + 1}\n${stamp(s.start, ",", true)} --> ${stamp(s.end, ",", true)}\n${cue(s.text)}\n\n`).join("") },
  vtt: { type: "text/vtt", timed: true, write: t => "WEBVTT\n\n" + t.segments.map(s =>
    `${stamp(s.start, ".", false)} --> ${stamp(s.end, ".", false)}\n${cue(s.text)}\n\n`).join("") },
  json: { type: "application/json", write: t => JSON.stringify({
    text: t.segments.map(s => s.text.trim()).join(" "), language: t.language, duration: t.duration,
    segments: t.segments.map((s, id) => ({ id, start: s.start, end: s.end, text: s.text })),
    words: t.segments.flatMap(s => s.words.map(w => ({ word: s.text.slice(w.from, w.to), start: w.start, end: w.end }))),
  }, null, 2) + "\n" },
};
export const isTimed = t => t.segments.every(s => s.start !== null && s.end !== null);

export function clock(seconds) {
  const s = Math.max(0, Math.floor(seconds)), two = n => String(n).padStart(2, "0");
  return (s >= 3600 ? Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) : Math.floor(s / 60)) + ":" + two(s % 60);
}
