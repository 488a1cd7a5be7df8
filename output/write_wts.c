/* steno: a shell script that burns words into the video of its input while they are spoken. SPDX-License-Identifier: MIT
 *
 * The script contains the subtitles of write_ass.c and runs FFmpeg to draw them. Names are quoted for the shell. Relative names refer to
 * the folder in which the script runs, and become absolute, so that a dash or colon in them has no special meaning. */
#include "write.h"
#include <string.h>

static void put_absolute(struct sink *f, const char *name)
{
    sink_format(f, "case $%s in /*) ;; *) %s=$PWD/$%s ;; esac\n", name, name, name);
}

static void put_names(struct sink *f, const struct transcript *t)
{
    const char *input = t->source && strcmp(t->source->input, "-") != 0 ? t->source->input : NULL;
    if (input) {
        sink_text(f, "input=");
        text_put_shell(f, input);
        sink_text(f, "\n[ $# -eq 0 ] || input=$1\n");
    } else {
        sink_text(f, "input=${1:?\"the sound came from standard input: name its file\"}\n");
    }
    sink_text(f, "output=$input.mp4\n[ $# -lt 2 ] || output=$2\n");
    put_absolute(f, "input");
    put_absolute(f, "output");
    if (!t->layout || !t->layout->font_file) return;
    sink_text(f, "font=");
    text_put_shell(f, t->layout->font_file);
    sink_char(f, '\n');
    put_absolute(f, "font");
}

void write_wts(struct sink *f, const struct transcript *t)
{
    const int has_file = t->layout && t->layout->font_file;
    sink_text(f, "#!/bin/sh\n"
                 "# Burns the words below into the picture of INPUT, each lit up when it is said; sound without a picture gets "
                 "a black one.\n"
                 "# Usage: sh SCRIPT [INPUT [OUTPUT]]; OUTPUT is INPUT.mp4 unless it is given. Needs ffmpeg and ffprobe, with libass.\n"
                 "set -eu\n");
    put_names(f, t);
    sink_text(f, "folder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\ntrap 'exit 1' HUP INT TERM\n"
                 "cat >\"$folder/words.ass\" <<'END_OF_SUBTITLES'\n");
    write_ass(f, t); /* each of its lines begins with a keyword */
    sink_text(f, "END_OF_SUBTITLES\n");
    if (has_file) sink_text(f, "mkdir \"$folder/fonts\"\ncp \"$font\" \"$folder/fonts\"\n");
    sink_text(f, "cd \"$folder\"\n"
                 "if ffprobe -v error -select_streams V:0 -show_entries stream=codec_type -of csv=p=0 \"$input\" | grep -q video; then\n"
                 "    set -- -map 0:V:0 -map '0:a?'\n"
                 "else\n"
                 "    set -- -f lavfi -i color=c=black:s=1280x720:r=25 -map 1:v -map 0:a -shortest\n"
                 "fi\n");
    sink_format(f, "ffmpeg -nostdin -i \"$input\" \"$@\" -vf subtitles=words.ass%s -pix_fmt yuv420p \"$output\"\n",
                has_file ? ":fontsdir=fonts" : "");
}
