/* steno: common options and examples in the help of a verb. SPDX-License-Identifier: MIT */
#include "cli/help_pages.h"
#include <stddef.h>
#include <string.h>

#define OFTEN_USED " model language output-format output-dir word-timestamps initial-prompt hotwords vad vad-model punctuation itn " \
                   "style max-line-width max-line-count beam-size greedy " \
                   "temperature condition-on-previous-text channels diarize offset-ms " \
                   "duration-ms draft post post-prompt compute threads batch-size progress print-timings demo quiet "

static const struct help_page pages[] = {
    { "transcribe", OFTEN_USED "task ", {
        { "steno interview.mp3 -m base -l en", "print the text" },
        { "steno *.m4a -f srt --style netflix -o subtitles -b 4", "write subtitles by a guideline, four windows at a time" },
        { "steno call.wav -m SenseVoiceSmall -f json", "print an object with segments, times and tags" } } },
    { "translate", OFTEN_USED, {
        { "steno translate film.mkv -m small", "print an English text" },
        { "steno translate film.mkv -m small -l ja -f srt -o .", "write English subtitles of a Japanese film" },
        { "ffmpeg -i URL -f wav - | steno translate -m base -", "read audio from another program" } } },
    { "batch", " manifest output shard resume retry-failed retries timeout max-failures ordered batch-size jobs isolate merge "
               "output-format output-dir model language task word-timestamps initial-prompt vad punctuation beam-size greedy "
               "compute threads demo quiet ", {
        { "steno batch -m base -i files.jsonl -o out.jsonl -b 4", "transcribe all files, four at a time" },
        { "steno batch -m base -i files.jsonl -o 3.jsonl --shard 3/64 --resume", "transcribe a part of 64, or continue it" },
        { "steno batch -m base -i - -o - -f srt --output-dir . < files.txt", "print results of a list of paths, and write subtitles" } } },
    { "align", NULL, {
        { "steno align speech.wav @speech.txt -m base", "print the time of each word" },
        { "steno align speech.wav @speech.txt -m base -f srt -o .", "write the same as subtitles" },
        { "steno align - @speech.txt -m small < speech.wav", "read audio from standard input" } } },
    { "detect", NULL, {
        { "steno detect talk.mp3 -m base", "print the five most likely languages" },
        { "steno detect talk.mp3 -m base -n 1", "print the most likely one" },
        { "steno detect talk.mp3 -m base --json", "print an object" } } },
    { "vad", NULL, {
        { "steno vad meeting.wav -m fsmn-vad", "print START_MS END_MS of each span of speech" },
        { "steno vad meeting.wav -m fsmn-vad --vad-merge-s 30", "merge spans into stretches of up to 30 s" },
        { "steno vad meeting.wav -m fsmn-vad --json", "print an object" } } },
    { "stream", NULL, {
        { "steno stream -m base --vad silero --mic", "transcribe the microphone" },
        { "steno stream -m base --raw s16le < samples.raw", "read raw samples from another program" },
        { "steno stream talk.wav -m small -l en --step 2", "read a file as if it were live, with an update every 2 s" } } },
    { "serve", " model alias idle-unload host port unix api-key-file no-auth cors page parallel queue max-upload max-seconds live wyoming "
               "grace language vad beam-size greedy compute threads demo ", {
        { "steno serve -m base", "serve on http://127.0.0.1:8090/, where a browser finds a page" },
        { "steno serve -m base -m SenseVoiceSmall --idle-unload 10:00", "serve two models; requests choose by name" },
        { "steno serve -m base --host 0.0.0.0 --api-key-file keys", "serve other machines that have a key" } } },
    { "tokenize", NULL, {
        { "steno tokenize -m base \"Hello, world\"", "print the id and text of each token" },
        { "steno tokenize -m base --ids @speech.txt", "print the ids of a file's text in one line" },
        { "steno tokenize -m base --decode \"2425 11 1002\"", "print the text of ids" } } },
    { "punctuate", NULL, {
        { "steno punctuate -m ct-punc words.txt", "punctuate each line of a file" },
        { "steno punctuate -m ct-punc - < words.txt", "read standard input" },
        { "steno talk.wav -m base --punctuation ct-punc", "punctuate a transcript" } } },
    { "chat", " model draft system think temperature top-k top-p seed grammar json-schema max-tokens ctx-size compute threads quiet ", {
        { "steno chat -m qwen3-0.6b", "chat with a model; Ctrl-D ends the program" },
        { "steno chat -m qwen3-0.6b --system \"Answer in one sentence.\"", "give an instruction" },
        { "steno chat -m qwen3-1.7b --temperature 0", "always the most probable answer" } } },
    { "generate", " model draft file prompts raw system think temperature top-k top-p seed grammar json-schema max-tokens stop ctx-size "
                  "batch-size json compute threads quiet ", {
        { "steno generate -m qwen3-0.6b \"Why is the sky blue?\"", "print an answer" },
        { "steno generate -m qwen3-0.6b --raw -n 32 \"Once upon a time\"", "continue a text, without a chat template" },
        { "steno generate -m qwen3-0.6b - < question.txt", "read the prompt from standard input" } } },
    { "embed", NULL, {
        { "steno embed -m bge-small \"first text\" \"second text\"", "print a vector for each text" },
        { "steno embed -m bge-small @lines.txt -f npy > vectors.npy", "write a vector for each line of a file" },
        { "steno embed -m bge-small --pooling cls \"a text\"", "use the vector of the first token" } } },
    { "search", NULL, {
        { "steno search -m bge-small \"delivery date\" calls/*.json", "print the lines nearest in meaning, with file and time" },
        { "steno search -m bge-small \"delivery date\" a.srt b.vtt -k 3", "print the best three" },
        { "steno search -m bge-small \"delivery date\" a.srt --json", "print one object per line" } } },
    { "lint-subs", NULL, {
        { "steno lint-subs talk.srt", "check for overlaps, bad times, empty cues" },
        { "steno lint-subs --style netflix talk.srt", "also check the limits of a guideline" },
        { "steno lint-subs --json *.vtt", "print one object per file" } } },
    { "convert", NULL, {
        { "steno convert SenseVoiceSmall sensevoice.gguf", "write one file from a FunASR folder" },
        { "steno convert Qwen3-0.6B qwen3.gguf", "write a file for llama.cpp from a Hugging Face folder" },
        { "steno convert whisper-tiny ggml-tiny.bin", "write a file for whisper.cpp" } } },
    { "quantize", NULL, {
        { "steno quantize ggml-base.bin ggml-base-q5_0.bin q5_0", "write a smaller file for whisper.cpp" },
        { "steno quantize Qwen3-0.6B qwen3-q4.gguf q4_k_m", "write a smaller file for llama.cpp" },
        { "steno quantize SenseVoiceSmall sv-q8.gguf q8_0", "write a smaller file for FunASR's runtime" } } },
    { "models", NULL, {
        { "steno models list", "list the models on this machine" },
        { "steno models pull base", "download a model and print its path" },
        { "steno models where base", "print the path of a model" } } },
    { "completions", NULL, {
        { "eval \"$(steno completions bash)\"", "put this line into ~/.bashrc" },
        { "steno completions zsh > _steno", "write it to a folder of zsh's fpath" },
        { "steno completions fish > steno.fish", "write it to ~/.config/fish/completions" } } },
    { "install-dialects", NULL, {
        { "steno install-dialects ~/.local/bin", "then: whisper talk.mp3 --model base" },
        { "steno install-dialects --dry-run ~/.local/bin whisper-cli", "print the actions for one name" },
        { "steno install-dialects --remove ~/.local/bin", "remove the links" } } },
    { "info", NULL, {
        { "steno info ggml-base.bin", "print sizes, languages, memory" },
        { "steno info ggml-base.bin --plan", "also print the command lists" },
        { "steno info broken.bin", "print the fault of a damaged file" } } },
    { "bench", NULL, {
        { "steno bench -m base -t 4", "print milliseconds of each phase" },
        { "steno bench --shape large-v3 --type q5_0", "time a shape with random weights" },
        { "steno bench -m base -f json", "print an object" } } },
    { "compare", NULL, {
        { "steno compare expected.txt result.txt", "print error rates of characters and words" },
        { "steno compare a.npy b.npy", "print the difference of the numbers" },
        { "steno compare expected.srt result.json", "compare any two transcripts" } } },
    { "doctor", NULL, {
        { "steno doctor", "print features and problems of this machine" },
        { "steno doctor --json", "print an object" },
        { "steno doctor | grep level", "print the processor levels" } } },
};

const struct help_page *help_page_of(const char *verb)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].verb, verb) == 0) return &pages[i];
    return NULL;
}
