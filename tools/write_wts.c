/* steno: a shell script that burns words into the picture of its input while they are said. SPDX-License-Identifier: MIT
 *
 * The script holds the subtitles of write_ass.c and has FFmpeg draw them. Names are quoted so that the shell takes them for what they are;
 * relative ones are those of the folder that the script is run in, and become absolute, so that a dash or colon in them means nothing. */
#include "u8.h"
#include "write.h"
#include <string.h>

/* In single quotes; what is not UTF-8 in a file's name is spelled in octal, because what we write is UTF-8. */
static void put_quoted(FILE *f, const char *s)
{
    const size_t n = strlen(s);
    size_t used;
    fputc('\'', f);
    for (size_t i = 0; i < n; i += used) {
        if (u8_decode(s + i, n - i, &used) == U8_BAD) fprintf(f, "'\"$(printf '\\%03o')\"'", (unsigned)(unsigned char)s[i]);
        else if (s[i] == '\'') fputs("'\\''", f);
        else fwrite(s + i, 1, used, f);
    }
    fputc('\'', f);
}

static void put_absolute(FILE *f, const char *name)
{
    fprintf(f, "case $%s in /*) ;; *) %s=$PWD/$%s ;; esac\n", name, name, name);
}

static void put_names(FILE *f, const struct transcript *t)
{
    const char *input = t->record && strcmp(t->record->input, "-") != 0 ? t->record->input : NULL;
    if (input) {
        fputs("input=", f);
        put_quoted(f, input);
        fputs("\n[ $# -eq 0 ] || input=$1\n", f);
    } else {
        fputs("input=${1:?\"the sound came from standard input: name its file\"}\n", f);
    }
    fputs("output=$input.mp4\n[ $# -lt 2 ] || output=$2\n", f);
    put_absolute(f, "input");
    put_absolute(f, "output");
    if (!t->layout || !t->layout->font_file) return;
    fputs("font=", f);
    put_quoted(f, t->layout->font_file);
    fputc('\n', f);
    put_absolute(f, "font");
}

void write_wts(FILE *f, const struct transcript *t)
{
    const int has_file = t->layout && t->layout->font_file;
    fputs("#!/bin/sh\n"
          "# Burns the words below into the picture of INPUT, each lit up when it is said; sound without a picture gets a black one.\n"
          "# Usage: sh SCRIPT [INPUT [OUTPUT]]; OUTPUT is INPUT.mp4 unless it is given. Needs ffmpeg and ffprobe, with libass.\n"
          "set -eu\n", f);
    put_names(f, t);
    fputs("folder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\ntrap 'exit 1' HUP INT TERM\n"
          "cat >\"$folder/words.ass\" <<'END_OF_SUBTITLES'\n", f);
    write_ass(f, t); /* each of its lines begins with a word of its own */
    fputs("END_OF_SUBTITLES\n", f);
    if (has_file) fputs("mkdir \"$folder/fonts\"\ncp \"$font\" \"$folder/fonts\"\n", f);
    fputs("cd \"$folder\"\n"
          "if ffprobe -v error -select_streams V:0 -show_entries stream=codec_type -of csv=p=0 \"$input\" | grep -q video; then\n"
          "    set -- -map 0:V:0 -map '0:a?'\n"
          "else\n"
          "    set -- -f lavfi -i color=c=black:s=1280x720:r=25 -map 1:v -map 0:a -shortest\n"
          "fi\n", f);
    fprintf(f, "ffmpeg -nostdin -i \"$input\" \"$@\" -vf subtitles=words.ass%s -pix_fmt yuv420p \"$output\"\n",
            has_file ? ":fontsdir=fonts" : "");
}
