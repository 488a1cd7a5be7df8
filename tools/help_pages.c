/* steno: what the help of a verb shows beside its table of options. SPDX-License-Identifier: MIT */
#include "help_pages.h"
#include <stddef.h>
#include <string.h>

#define OFTEN_USED " model language output-format output-dir word-timestamps initial-prompt hotwords vad vad-model punctuation itn " \
                   "style max-line-width max-line-count beam-size greedy " \
                   "temperature condition-on-previous-text channels diarize offset-ms " \
                   "duration-ms draft post post-prompt compute threads batch-size progress print-timings demo quiet "

static const struct help_page pages[] = {
    { "transcribe", OFTEN_USED "task ", {
        { "steno interview.mp3 -m base -l en", "the text on standard output" },
        { "steno *.m4a -f srt --style netflix -o subtitles -b 4", "subtitles by a guideline, four windows at a time" },
        { "steno call.wav -m SenseVoiceSmall -f json", "an object with segments, times and tags" } } },
    { "translate", OFTEN_USED, {
        { "steno translate film.mkv -m small", "an English text of what is said" },
        { "steno translate film.mkv -m small -l ja -f srt -o .", "English subtitles of a Japanese film" },
        { "ffmpeg -i URL -f wav - | steno translate -m base -", "sound from another program" } } },
    { "align", NULL, {
        { "steno align speech.wav @speech.txt -m base", "when each word of the text is said" },
        { "steno align speech.wav @speech.txt -m base -f srt -o .", "the same as subtitles" },
        { "steno align - @speech.txt -m small < speech.wav", "sound from standard input" } } },
    { "detect", NULL, {
        { "steno detect talk.mp3 -m base", "the languages that it may be, most likely first" },
        { "steno detect talk.mp3 -m base -n 1", "the most likely one" },
        { "steno detect talk.mp3 -m base --json", "as an object" } } },
    { "vad", NULL, {
        { "steno vad meeting.wav -m fsmn-vad", "START_MS END_MS of each span of speech" },
        { "steno vad meeting.wav -m fsmn-vad --vad-merge-s 30", "stretches of up to half a minute" },
        { "steno vad meeting.wav -m fsmn-vad --json", "as an object" } } },
    { "stream", NULL, {
        { "steno stream -m base --vad silero --mic", "what is said into the microphone" },
        { "steno stream -m base --raw s16le < samples.raw", "samples of another program" },
        { "steno stream talk.wav -m small -l en --step 2", "a file, as it would come" } } },
    { "tokenize", NULL, {
        { "steno tokenize -m base \"Hello, world\"", "each token's id and text" },
        { "steno tokenize -m base --ids @speech.txt", "the ids of a file's text in one line" },
        { "steno tokenize -m base --decode \"2425 11 1002\"", "the text of ids" } } },
    { "punctuate", NULL, {
        { "steno punctuate -m ct-punc words.txt", "each line with its marks" },
        { "steno punctuate -m ct-punc - < words.txt", "the same from standard input" },
        { "steno talk.wav -m base --punctuation ct-punc", "a transcript with its marks" } } },
    { "chat", " model draft system think temperature top-k top-p seed grammar json-schema max-tokens ctx-size compute threads quiet ", {
        { "steno chat -m qwen3-0.6b", "talk with a model; Ctrl-D ends it" },
        { "steno chat -m qwen3-0.6b --system \"Answer in one sentence.\"", "with an instruction" },
        { "steno chat -m qwen3-1.7b --temperature 0", "the likeliest answer, always the same" } } },
    { "generate", " model draft file prompts raw system think temperature top-k top-p seed grammar json-schema max-tokens stop ctx-size "
                  "batch-size json compute threads quiet ", {
        { "steno generate -m qwen3-0.6b \"Why is the sky blue?\"", "an answer" },
        { "steno generate -m qwen3-0.6b --raw -n 32 \"Once upon a time\"", "the text goes on, without a chat template" },
        { "steno generate -m qwen3-0.6b - < question.txt", "a prompt from standard input" } } },
    { "embed", NULL, {
        { "steno embed -m bge-small \"first text\" \"second text\"", "a vector for each text" },
        { "steno embed -m bge-small @lines.txt -f npy > vectors.npy", "a vector for each line of a file" },
        { "steno embed -m bge-small --pooling cls \"a text\"", "the first token's vector" } } },
    { "search", NULL, {
        { "steno search -m bge-small \"delivery date\" calls/*.json", "the lines that mean it, with file and time" },
        { "steno search -m bge-small \"delivery date\" a.srt b.vtt -k 3", "the best three" },
        { "steno search -m bge-small \"delivery date\" a.srt --json", "an object a line" } } },
    { "lint-subs", NULL, {
        { "steno lint-subs talk.srt", "what no subtitles may have: overlaps, bad times, empty cues" },
        { "steno lint-subs --style netflix talk.srt", "and what a guideline asks for" },
        { "steno lint-subs --json *.vtt", "for a script" } } },
    { "convert", NULL, {
        { "steno convert SenseVoiceSmall sensevoice.gguf", "one file from a FunASR folder" },
        { "steno convert Qwen3-0.6B qwen3.gguf", "a file for llama.cpp from a Hugging Face folder" },
        { "steno convert whisper-tiny ggml-tiny.bin", "a file for whisper.cpp" } } },
    { "quantize", NULL, {
        { "steno quantize ggml-base.bin ggml-base-q5_0.bin q5_0", "a smaller file for whisper.cpp" },
        { "steno quantize Qwen3-0.6B qwen3-q4.gguf q4_k_m", "a smaller file for llama.cpp" },
        { "steno quantize SenseVoiceSmall sv-q8.gguf q8_0", "a smaller file for FunASR's runtime" } } },
    { "models", NULL, {
        { "steno models list", "what is on this machine" },
        { "steno models pull base", "fetch one; its path is printed" },
        { "steno models where base", "the path that -m base takes" } } },
    { "completions", NULL, {
        { "eval \"$(steno completions bash)\"", "in ~/.bashrc" },
        { "steno completions zsh > _steno", "into a folder of zsh's fpath" },
        { "steno completions fish > steno.fish", "into ~/.config/fish/completions" } } },
    { "install-dialects", NULL, {
        { "steno install-dialects ~/.local/bin", "then: whisper talk.mp3 --model base" },
        { "steno install-dialects --dry-run ~/.local/bin whisper-cli", "what would be done, for one name" },
        { "steno install-dialects --remove ~/.local/bin", "remove the links" } } },
    { "info", NULL, {
        { "steno info ggml-base.bin", "sizes, languages, memory" },
        { "steno info ggml-base.bin --plan", "the commands that it is compiled to" },
        { "steno info broken.bin", "what is wrong with a file" } } },
    { "bench", NULL, {
        { "steno bench -m base -t 4", "milliseconds of each phase" },
        { "steno bench --shape large-v3 --type q5_0", "a model of a shape, without its file" },
        { "steno bench -m base -f json", "figures for a script" } } },
    { "compare", NULL, {
        { "steno compare expected.txt heard.txt", "error rates of characters and words" },
        { "steno compare a.npy b.npy", "how far numbers are apart" },
        { "steno compare expected.srt heard.json", "any two transcripts" } } },
    { "doctor", NULL, {
        { "steno doctor", "what this machine offers, and what is wrong" },
        { "steno doctor --json", "as an object" },
        { "steno doctor | grep level", "which kernels are used" } } },
};

const struct help_page *help_page_of(const char *verb)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].verb, verb) == 0) return &pages[i];
    return NULL;
}
