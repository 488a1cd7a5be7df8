# steno: names, colours and places of speakers in subtitles. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

stereo 45000 >two.wav # the first phrase on the left, the others on the right
t() { # t WANT CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@" two.wav
}

t 0 "subtitles have numbers of speakers" --diarize -f srt
out_has "(speaker 0) "
t 0 "subtitles have names of speakers" --diarize --speaker-names "Ann,Bob & <Co>" -f srt,vtt,ass -o named
grep -q "^Ann: " named/two.srt && grep -q "^Bob & <Co>: " named/two.srt || bad "srt has the names" "$(cat named/two.srt)"
grep -q "^<v Ann>" named/two.vtt && grep -q "^<v Bob &amp; &lt;Co&gt;>" named/two.vtt || bad "vtt has voices" "$(cat named/two.vtt)"
grep -q ",Ann,0,0,0,," named/two.ass || bad "ass has the names" "$(cat named/two.ass)"
t 0 "names, colours, regions and a style go together" \
    --diarize --speaker-names Ann,Bob --speaker-colors --vtt-regions --style bbc -f srt,vtt,ass -o all
for f in srt vtt ass; do
    expect 0 "lint-subs finds no fault in $f" lint-subs --style bbc -l zh all/two.$f
    out_empty
done
grep -q '^::cue(v\[voice="Bob"\]) { color: yellow; }$' all/two.vtt || bad "speakers have colours" "$(cat all/two.vtt)"
grep -q '^id:speaker1$' all/two.vtt && grep -q ' region:speaker1$' all/two.vtt || bad "speakers have regions" "$(cat all/two.vtt)"
grep -q '^Style: Speaker1,' all/two.ass && grep -q ',Speaker1,Bob,' all/two.ass || bad "speakers have styles" "$(cat all/two.ass)"
t 0 "channels have names" --channels split --speaker-names Ann,Bob -f srt -o split
grep -q "^Ann: " split/two.ch0.srt && grep -q "^Bob: " split/two.ch1.srt || bad "each channel has its own name" "$(cat split/*.srt)"

# Other programs read the cues, where they are installed.
if python3 -c "import webvtt, pysubs2" 2>/dev/null; then
    python3 - all/two.vtt all/two.ass all/two.srt <<'END' || bad "webvtt-py and pysubs2 read the cues" "they do not"
import sys, webvtt, pysubs2
vtt = webvtt.read(sys.argv[1])
ass, srt = (pysubs2.load(f) for f in sys.argv[2:])
assert len(vtt) == len(ass) == len(srt) > 1
assert {c.voice for c in vtt} == {"Ann", "Bob"} and len(vtt.styles) == 1 and {e.name for e in ass} == {"Ann", "Bob"}
styles = vtt.styles[0].text.split("\n")
assert styles == [f'::cue(v[voice="{n}"]) {{ color: {c}; }}' for n, c in (("Ann", "white"), ("Bob", "yellow"))], styles
if hasattr(vtt, "regions"):  # of webvtt-py from 0.6 on
    places = {r.id: (int(r.viewportanchor.split("%")[0]), int(r.width.rstrip("%"))) for r in vtt.regions}
    assert list(places) == ["speaker0", "speaker1"], places
    assert sum(places["speaker0"]) <= places["speaker1"][0] and sum(places["speaker1"]) <= 100, places
    assert {(c.voice, c.settings.region) for c in vtt} == {("Ann", "speaker0"), ("Bob", "speaker1")}
for a, b, c in zip(vtt, ass, srt):
    assert a.start_in_seconds == b.start // 1000 == c.start // 1000 and b.end == c.end
    assert a.text.replace("\n", "") == c.plaintext.split(": ", 1)[-1].replace("\n", ""), (a.text, c.plaintext)
assert all(s in ass.styles for e in ass for s in [e.style])
END
else
    echo "(not tried: webvtt-py and pysubs2; they are not installed)"
fi

refused() { # refused WORDS ARGUMENT...
    local words=$1
    shift
    t 2 "$* is refused" "$@"
    err_has "$words"
}
refused "--speaker-names needs --diarize or --channels" --speaker-names A -f srt
refused "is for the output formats srt, vtt, ass and wts" --speaker-names A --diarize
refused "is for the output formats vtt, ass and wts" --speaker-colors --diarize -f srt
refused "--vtt-regions needs --diarize" --vtt-regions -f vtt
refused "--vtt-regions is for the output format vtt" --vtt-regions --diarize -f srt
refused "a name has 1 to 100 bytes" --speaker-names A,,B --diarize -f srt
refused "control character" --speaker-names $'A\nB' --diarize -f srt
refused "not valid UTF-8" --speaker-names $'\xff' --diarize -f srt
finish
