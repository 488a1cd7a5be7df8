/* steno: fuzzing of Deepgram's streaming API. SPDX-License-Identifier: MIT
 *
 * Lines of the input are parameters, NAME=VALUE, or messages of the client. A refusal has a text; a message sent is JSON. */
#include "listen.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void on_send(void *user, const char *text, size_t n)
{
    json_t *m = json_loadb(text, n, 0, NULL);
    if (!json_is_string(json_object_get(m, "type"))) abort();
    json_decref(m);
    ++*(int *)user;
}

static void read_parameter(struct listen_config *c, const char *line)
{
    struct api_error e = { 0 };
    const char *value = strchr(line, '=');
    char *name = value ? strndup(line, (size_t)(value - line)) : NULL;
    if (!name) return;
    const int rc = listen_query(c, name, ++value, 1, &e);
    free(name);
    if ((rc == API_OK) != (e.message[0] == '\0') || c->utt_split_s <= 0) abort();
    if (c->channels < 1 || c->channels > 8 || c->utterance_end_ms < 0 || c->silence_ms < -1) abort();
    listen_model_is_hosted(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct listen_config c, file;
    struct api_error e = { 0 }, e_file = { 0 };
    int n_sent = 0;
    char *text = malloc(n + 1), *rest = text;
    if (!text) return 0;
    if (n) memcpy(text, data, n);
    text[n] = '\0';
    listen_config_init(&c, 0);
    listen_config_init(&file, 1);
    struct listen *l = listen_open(&(struct listen_params){ &c, "id", "model", "family", "now", on_send, &n_sent });
    if (!l) abort();
    for (char *line; (line = strtok_r(rest, "\n", &rest));) {
        const int before = n_sent;
        const enum listen_message m = listen_text(l, line, strlen(line));
        if (n_sent > before + 1 || (m != LISTEN_NOTHING && n_sent > before)) abort();
        read_parameter(&c, line);
        read_parameter(&file, line);
    }
    if ((listen_config_check(&c, &e) == API_OK) != (e.message[0] == '\0')) abort();
    if ((listen_config_check(&file, &e_file) == API_OK) != (e_file.message[0] == '\0')) abort();
    listen_ended(l, NULL);
    listen_close(l);
    free(text);
    return 0;
}
