/* steno-serve: a form that arrives. SPDX-License-Identifier: MIT */
#include "upload.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int fail_spool(struct upload *u, int rc)
{
    if (rc == STENO_EFULL)
        return api_fail(&u->error, API_spool_full, NULL, "no room for the upload in the server's spool; try again later");
    if (rc == STENO_ENOMEM) return api_fail(&u->error, API_internal_error, NULL, "out of memory for the upload");
    return api_fail(&u->error, API_internal_error, NULL, "the upload cannot be written to the server's spool");
}

/* ---- parts ------------------------------------------------------------------------------------------------------------------- */

static int file_begin(struct upload *u)
{
    const int rc = spool_file_open(&u->file, u->spool);
    return rc == STENO_OK ? 0 : fail_spool(u, rc);
}

static int part_begin(void *user, const struct multipart_part *p)
{
    struct upload *u = user;
    memcpy(u->name, p->name, sizeof u->name);
    u->n_value = 0;
    u->is_file = strcmp(p->name, u->file_field) == 0;
    if (!u->is_file) return 0;
    if (u->file) return api_fail(&u->error, API_duplicate_parameter, u->file_field, "more than one file; a request transcribes one");
    memcpy(u->file_name, p->file, sizeof u->file_name);
    return file_begin(u);
}

static int too_large(struct upload *u)
{
    return api_fail(&u->error, API_request_too_large, u->file_field, "the file is larger than %lld bytes, the server's limit",
                    (long long)u->max_bytes);
}

static int file_add(struct upload *u, const char *bytes, size_t n)
{
    if (spool_size(u->file) + (int64_t)n > u->max_bytes) return too_large(u);
    const int rc = spool_write(u->file, bytes, n);
    return rc == STENO_OK ? 0 : fail_spool(u, rc);
}

static int part_data(void *user, const char *bytes, size_t n)
{
    struct upload *u = user;
    if (u->is_file) return file_add(u, bytes, n);
    if (n > FORM_VALUE_MAX - u->n_value)
        return api_fail(&u->error, API_invalid_value, u->name, "%.64s has more than %d bytes", u->name, FORM_VALUE_MAX);
    if (!u->value) u->value = malloc(FORM_VALUE_MAX);
    if (!u->value) return api_fail(&u->error, API_internal_error, NULL, "out of memory for a field");
    memcpy(u->value + u->n_value, bytes, n);
    u->n_value += n;
    return 0;
}

static int part_end(void *user)
{
    struct upload *u = user;
    if (u->is_file) return 0;
    return form_add(&u->form, u->name, u->value ? u->value : "", u->n_value, &u->error);
}

/* ---- the body ---------------------------------------------------------------------------------------------------------------- */

enum { FORM_AROUND = FORM_TEXT_MAX + (64 << 10) }; /* most bytes of a body beside the file */

/* Clients of such routes also send addresses of files, as JSON. */
static int raw_begin(struct upload *u, const char *type)
{
    if (strncasecmp(type, "application/json", 16) == 0)
        return api_fail(&u->error, API_invalid_value, "url", "url: this server fetches no files; send the bytes of the file as the body");
    if (strncasecmp(type, "multipart/", 10) == 0)
        return api_fail(&u->error, API_unsupported_media_type, NULL, "the body is a form: send the bytes of the file as the body");
    return file_begin(u);
}

int upload_begin(struct upload *u, const struct exchange *x)
{
    const char *type = exchange_header(x, "Content-Type"), *why = NULL;
    const struct multipart_events ev = { part_begin, part_data, part_end, u };
    if (exchange_content_length(x) > u->max_bytes + FORM_AROUND) return too_large(u);
    if (exchange_content_length(x) == 0)
        return api_fail(&u->error, u->file_field ? API_invalid_multipart : API_bad_request, NULL, "the request has no body");
    if (!u->file_field) return raw_begin(u, type ? type : "");
    u->multipart = multipart_open(type ? type : "", &ev, &why);
    if (u->multipart) return API_OK;
    return api_fail(&u->error, API_unsupported_media_type, NULL, "%s: send a form (multipart/form-data) with the file in the field \"%s\"",
                    why ? why : "out of memory", u->file_field);
}

static int fail_form(struct upload *u)
{
    const char *why = multipart_why(u->multipart);
    return api_fail(&u->error, API_invalid_multipart, NULL, "%s", why ? why : "the form cannot be read");
}

int upload_add(struct upload *u, const char *bytes, size_t n)
{
    if (!u->file_field) return file_add(u, bytes, n);
    u->n_bytes += (int64_t)n;
    if (u->n_bytes > u->max_bytes + FORM_AROUND) return too_large(u);
    return multipart_add(u->multipart, bytes, n) ? fail_form(u) : API_OK;
}

int upload_end(struct upload *u)
{
    if (!u->file_field && !spool_size(u->file)) return api_fail(&u->error, API_bad_request, NULL, "the request has no body");
    if (u->file_field && multipart_end(u->multipart)) return fail_form(u);
    if (u->file) return API_OK;
    return api_fail(&u->error, API_missing_required_parameter, u->file_field,
                    "the form has no field \"%s\": it holds the audio file", u->file_field);
}

void upload_free(struct upload *u)
{
    multipart_close(u->multipart);
    form_free(&u->form);
    spool_file_close(u->file);
    free(u->value);
}
