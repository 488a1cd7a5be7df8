/* steno-hub: settings of hubs and caches from the environment. SPDX-License-Identifier: MIT */
#include "hub_env.h"
#include "absolute.h"
#include "folder.h"
#include "hub_name.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *var(const char *name)
{
    const char *v = getenv(name);
    return v && v[0] ? v : NULL;
}

static int is_on(const char *name)
{
    static const char *const yes[] = { "1", "ON", "YES", "TRUE" };
    const char *v = var(name);
    for (size_t i = 0; v && i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(v, yes[i]) == 0) return 1;
    return 0;
}

static int seconds(const char *name, int usual)
{
    const char *v = var(name);
    const long s = v ? strtol(v, NULL, 10) : 0;
    return s > 0 && s <= 86400 ? (int)s : usual;
}

/* `text` with a leading ~ and $NAME, ${NAME} replaced, as in Python's expanduser and expandvars; unknown names stay. */
static char *expanded(const char *text)
{
    const char *home = var("HOME");
    char *out = home && text[0] == '~' && (!text[1] || text[1] == '/') ? hub_format("%s%s", home, text + 1) : strdup(text);
    for (char *at = out; at && (at = strchr(at, '$'));) {
        const int braced = at[1] == '{';
        const char *begin = at + 1 + braced;
        size_t n = 0;
        while (isalnum((unsigned char)begin[n]) || begin[n] == '_') n++;
        char name[128];
        const char *value = NULL;
        if (n && n < sizeof name && (!braced || begin[n] == '}')) {
            snprintf(name, sizeof name, "%.*s", (int)n, begin);
            value = getenv(name);
        }
        if (!value) {
            at++;
            continue;
        }
        const size_t before = (size_t)(at - out);
        char *longer = hub_format("%.*s%s%s", (int)before, out, value, begin + n + braced);
        free(out);
        out = longer;
        at = out ? out + before + strlen(value) : NULL;
    }
    return out;
}

/* dir/sub, where `dir` is the text of a variable. */
static char *below(const char *dir, const char *sub)
{
    char *at = expanded(dir), *path = at && sub[0] ? hub_format("%s/%s", at, sub) : NULL;
    if (!sub[0]) return at;
    free(at);
    return path;
}

/* The user's cache folder + sub. *none becomes 1 if there is no such folder. */
static char *user_cache(const char *sub, int *none)
{
    const char *xdg = var("XDG_CACHE_HOME"), *home = var("HOME");
    if (xdg && hub_is_absolute(xdg)) return hub_format("%s/%s", xdg, sub);
    if (home) return hub_format("%s/.cache/%s", home, sub);
    *none = 1;
    return NULL;
}

static char *hf_home(int *none)
{
    const char *home = var("HF_HOME");
    return home ? below(home, "") : user_cache("huggingface", none);
}

static char *hf_cache(int *none)
{
    const char *hub = var("HF_HUB_CACHE");
    if (!hub) hub = var("HUGGINGFACE_HUB_CACHE");
    if (hub) return below(hub, "");
    char *home = hf_home(none), *path = home ? hub_format("%s/hub", home) : NULL;
    free(home);
    return path;
}

static char *ms_cache(int *none)
{
    const char *dir = var("MODELSCOPE_CACHE"), *home = var("HOME");
    if (dir) return below(dir, "");
    if (home) return hub_format("%s/.cache/modelscope", home); /* XDG_CACHE_HOME is not used there */
    *none = 1;
    return NULL;
}

static char *trimmed(const char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1])) n--;
    return hub_format("%.*s", (int)n, text);
}

/* A token is one word of visible characters; otherwise it could contain another header field. */
static char *token_of(char *text)
{
    for (const char *p = text; p && *p; p++)
        if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f) {
            free(text);
            return NULL;
        }
    if (text && text[0]) return text;
    free(text);
    return NULL;
}

static char *token_file(void)
{
    int none = 0;
    const char *given = var("HF_TOKEN_PATH");
    char *home = given ? NULL : hf_home(&none), *path = given ? below(given, "") : home ? hub_format("%s/token", home) : NULL;
    char text[1024];
    FILE *f = path ? regular_read(path) : NULL;
    free(home);
    free(path);
    if (!f) return NULL;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return token_of(trimmed(text));
}

/* The URL without trailing slashes. */
static char *endpoint(const char *const *names, const char *usual)
{
    const char *v = NULL;
    for (int i = 0; names[i] && !v; i++) v = var(names[i]);
    char *text = v ? (strstr(v, "://") ? strdup(v) : hub_format("https://%s", v)) : strdup(usual);
    for (size_t n = text ? strlen(text) : 0; n && text[n - 1] == '/'; n--) text[n - 1] = '\0';
    return text;
}

static int is_plain(const char *url)
{
    char origin[HUB_ORIGIN_SZ];
    return hub_origin(origin, url) == 0 && !hub_is_https(origin) && !hub_is_loopback(origin);
}

static void read_tokens(struct hub_env *v)
{
    const char *token = var("HF_TOKEN"), *ms = var("MODELSCOPE_API_TOKEN");
    if (!token) token = var("HUGGING_FACE_HUB_TOKEN");
    if (is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN")) token = NULL;
    else if (!token && !v->is_plain[HUB_HF]) v->hub[HUB_HF].token = token_file();
    if (token) v->hub[HUB_HF].token = token_of(trimmed(token));
    if (ms) v->hub[HUB_MS].token = token_of(trimmed(ms));
}

int hub_env_read(struct hub_env *v, struct hub_error *e)
{
    static const char *const hf[] = { "HF_ENDPOINT", NULL }, *const ms[] = { "MODELSCOPE_ENDPOINT", "MODELSCOPE_DOMAIN", NULL };
    static const char *const proof[] = { "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE" };
    const char *bundle = NULL;
    int none[N_HUBS] = { 0 };
    memset(v, 0, sizeof *v);
    v->hub[HUB_HF] = (struct hub_of){ "Hugging Face", hf_cache(&none[HUB_HF]), endpoint(hf, "https://huggingface.co"), NULL };
    v->hub[HUB_MS] = (struct hub_of){ "ModelScope", ms_cache(&none[HUB_MS]), endpoint(ms, "https://www.modelscope.cn"), NULL };
    for (int i = 0; i < 3 && !bundle; i++) bundle = var(proof[i]);
    v->proof = bundle ? strdup(bundle) : NULL;
    v->answer_s = seconds("HF_HUB_ETAG_TIMEOUT", 10);
    v->stall_s = seconds("HF_HUB_DOWNLOAD_TIMEOUT", 10);
    v->offline = is_on("HF_HUB_OFFLINE") || is_on("TRANSFORMERS_OFFLINE");
    v->no_links = is_on("HF_HUB_DISABLE_SYMLINKS");
    v->no_bar = is_on("HF_HUB_DISABLE_PROGRESS_BARS");
    for (int i = 0; i < N_HUBS; i++) {
        if (!v->hub[i].endpoint || (!v->hub[i].cache && !none[i]) || (bundle && !v->proof)) return hub_no_memory(e, "the environment");
        v->is_plain[i] = is_plain(v->hub[i].endpoint);
    }
    read_tokens(v);
    return HUB_OK;
}

void hub_env_free(struct hub_env *v)
{
    for (int i = 0; i < N_HUBS; i++) {
        free(v->hub[i].cache);
        free(v->hub[i].endpoint);
        free(v->hub[i].token);
    }
    free(v->proof);
    memset(v, 0, sizeof *v);
}
