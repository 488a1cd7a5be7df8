/* steno tests: texts with control characters and markup. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_HOSTILE_TEXTS_H
#define STENO_TESTS_HOSTILE_TEXTS_H

/* Without escapes, each text would end a line, a cue, a quote or a string, run a command, or control a terminal. */
static const char *const hostile_texts[] = {
    " one\n\n7\n00:00:09,000 --> 00:00:10,000\nhidden", " one\r\n\r\nNOTE hidden", "\n", " a\rb", " a\vb\fc",
    " a\xc2\x85" "b\xe2\x80\xa8" "c\xe2\x80\xa9" "d", " 0\t1\tx", " \"quoted\", \"\"twice", " \"\n5,6,\"row", " a\\", " \\\" \\n \\u0000",
    " x --> y", " 00:00:01.000 --> 00:00:02.000", "-->", " --", " -", " & &amp; < > <v Bob> </c> &#10;", " <b>x", " WEBVTT", " NOTE x",
    " STYLE", " [00:05.00]sung", " <00:05.00>sung", "[by:me]", " {\\an8}x{\\k100}", " \\N\\n\\h{}",
    " Dialogue: 0,0:00:01.00,0:00:02.00,,,0,0,0,,x", "\nDialogue: 0,0:00:01.00,0:00:02.00,,,0,0,0,,x", " $(touch \"$CANARY\")",
    " `touch \"$CANARY\"`", " '; touch \"$CANARY\"; '", " \"; touch \"$CANARY\"; \"", "\nEND_OF_SUBTITLES\ntouch \"$CANARY\"\n",
    " $((CANARY[$(touch \"$CANARY\")]))", " \\`touch \"$CANARY\"\\`", " \\\\$(touch \"$CANARY\")", " !touch", " =cmd|' /C calc'!A0",
    " @SUM(1)", " -1+cmd|x!A", " x:textfile=/etc/passwd", " %{eif:1:d}", " \x1b]0;title\x07", " \x1b[2J\x1b[31mred", " \x9b" "31m",
    " \xc2\x9b" "31m", " \x01\x08\x7f", " \xc2\x90q\xc2\x9c", " \xe2\x80\xae" "evil\xe2\x80\xac", " \xe2\x81\xa6x\xe2\x81\xa9",
    " \xff\xfe", " \xe4\xb8", " \xed\xa0\x80", " \xf4\x90\x80\x80", "\xef\xbb\xbfmark", " 7", "", "   ",
};
enum { HOSTILE_TEXTS = sizeof hostile_texts / sizeof *hostile_texts };
#endif
