/* steno: what a file is, by its content. SPDX-License-Identifier: MIT
 *
 * Most forms begin with a signature; the table below lists them. A few need a closer look: forms that begin with a number or a protobuf
 * message, archives that may hold a model, and text. Every check is fast and takes no memory: it reads the first bytes, and follows at most
 * a few dozen lengths. */
#include "load/file_probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/rd.h"
#include "base/utf8.h"

#define FORMS \
    "a whisper.cpp .bin file, an OpenAI .pt file, a Hugging Face folder with safetensors, a folder of faster-whisper (CTranslate2), a " \
    "NeMo file (.nemo), a FunASR folder with model.pt, or a GGUF file of FunASR's runtime or of NVIDIA's NeMo-Speech.cpp"
const char probe_take[] = "take the same model in a form that is read: " FORMS;
static const char sound_advice[] = "it is audio: give a model as the model, and this as the audio";
static const char unpack[] = "unpack it, and give the model that is in it: " FORMS;
static const char ggml_advice[] = "it is of another program: take " FORMS;

enum { HEAD = 1024, STEPS_MAX = 64, KEYS_MAX = 256, STRING_MAX = 1 << 16 };

/* Bytes at a fixed offset that identify a form. */
static const struct { uint32_t at, n; const char *bytes, *what, *advice; } known[] = {
    { 0, 4, "fmgg", "an old ggml file (ggmf)", ggml_advice },
    { 0, 4, "tjgg", "an old ggml file (ggjt)", ggml_advice },
    { 0, 4, "algg", "an adapter in ggml form (ggla)", ggml_advice },
    { 0, 4, "ggml", "a ggml file of a big-endian machine", ggml_advice },
    { 0, 4, "FUGG", "a GGUF file of a big-endian machine", "convert the model on a little-endian one" },
    { 0, 4, "ggjt", "an old ggml file (ggjt) of a big-endian machine", ggml_advice },
    { 4, 4, "TFL3", "a TensorFlow Lite model", probe_take },
    { 4, 4, "ORTM", "an ONNX Runtime model (ORT)", probe_take },
    { 0, 4, "\x89HDF", "a Keras or TensorFlow file (HDF5)", probe_take },
    { 0, 6, "\x93NUMPY", "a NumPy array", probe_take },
    { 0, 10, "\x80\2\x8a\nl\xfc\x9c\x46\xf9 ",
      "a PyTorch file of before version 1.6 (a pickle without a zip archive around it)", "load and save it with a current torch" },
    { 0, 2, "\x1f\x8b", "a gzip archive", "decompress it (gunzip <OLD >NEW), and give the .nemo file, or the model in the archive" },
    { 0, 6, "7z\xbc\xaf\x27\x1c", "a 7z archive", unpack },
    { 0, 6, "\xfd" "7zXZ", "an xz archive", unpack },
    { 0, 3, "BZh", "a bzip2 archive", unpack },
    { 0, 4, "\x28\xb5\x2f\xfd", "a zstd archive", unpack },
    { 0, 4, "Rar!", "a RAR archive", unpack },
    { 0, 4, "fLaC", "a sound file (FLAC)", sound_advice },
    { 0, 4, "OggS", "a sound file (Ogg)", sound_advice },
    { 0, 3, "ID3", "a sound file (MP3)", sound_advice },
    { 4, 4, "ftyp", "a sound or video file (MP4)", sound_advice },
    { 0, 4, "\x1a\x45\xdf\xa3", "a sound or video file (Matroska, WebM)", sound_advice },
    { 0, 4, "\x30\x26\xb2\x75", "a sound or video file (ASF)", sound_advice },
    { 0, 4, "FORM", "a sound file (AIFF)", sound_advice },
    { 0, 4, ".snd", "a sound file (AU)", sound_advice },
    { 0, 4, "caff", "a sound file (CAF)", sound_advice },
    { 0, 5, "#!AMR", "a sound file (AMR)", sound_advice },
    { 0, 4, "RIFF", "a sound file (WAV)", sound_advice },
    { 0, 4, "RF64", "a sound file (RF64)", sound_advice },
    { 0, 4, "\x7f" "ELF", "a program", "want " FORMS },
    { 0, 4, "%PDF", "a PDF document", "want " FORMS },
};

struct look {
    struct file_probe *k;
    const struct file *f;
    const uint8_t *head; /* [n] */
    size_t n;
};

static void say(struct file_probe *k, enum probe_form form, const char *what, const char *advice)
{
    k->form = form;
    k->readable = form >= PROBE_GGML;
    snprintf(k->what, sizeof k->what, "%s", what);
    snprintf(k->advice, sizeof k->advice, "%s", advice);
}

static uint64_t le(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = n; i-- > 0;) v = v << 8 | p[i];
    return v;
}

/* The length of a word that may be printed in a message: letters, digits and a few signs. */
static size_t plain_word(const uint8_t *s, size_t n)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
    size_t i = 0;
    while (i < n && s[i] && strchr(plain, s[i])) i++;
    return i;
}

/* ---- ggml and related forms -------------------------------------------------------------------------------------------------------- */

/* Numbers 5 to 8 of a transducer are bands, type, points of the FFT and rows per row of the stem; its filters' shape follows number 14.
 * Whisper has there the positions, width, heads and layers of its decoder, and has never 64 heads. */
static int is_transducer(const struct look *l)
{
    enum { MELS = 5, FFT = 7, FACTOR = 8, NUMBERS = 15 };
    uint64_t v[NUMBERS + 2] = { 0 };
    for (size_t i = 0; i < NUMBERS + 2 && 8 + 4 * i <= l->n; i++) v[i] = le(l->head + 4 + 4 * i, 4);
    if (v[MELS] && v[MELS] == v[NUMBERS] && v[FFT] / 2 + 1 == v[NUMBERS + 1]) return 1;
    return v[FFT] >= 64 && !(v[FFT] & (v[FFT] - 1)) && v[FACTOR] == 8;
}

/* A whisper.cpp file continues with numbers. A Silero model of the same program continues with the length of its name and the name. */
static int look_ggml(const struct look *l)
{
    if (l->n < 4 || memcmp(l->head, "lmgg", 4) != 0) return 0;
    const uint64_t len = l->n >= 8 ? le(l->head + 4, 4) : 0;
    if (len >= 3 && len <= 64 && l->n >= 8 + len && plain_word(l->head + 8, (size_t)len) == len) {
        static const char known_name[] = "silero-16k";
        const int silero = len >= 6 && !memcmp(l->head + 8, known_name, 6);
        static const char vad[] = "take Silero VAD for 16 kHz, or a FunASR FSMN-VAD folder (model.pt, config.yaml, am.mvn)";
        say(l->k, PROBE_OTHER, "", silero ? vad : ggml_advice);
        if (len == sizeof known_name - 1 && !memcmp(l->head + 8, known_name, (size_t)len))
            say(l->k, PROBE_GGML_VAD, "whisper.cpp .bin", "");
        else snprintf(l->k->what, sizeof l->k->what, "a %s model in ggml form (%.*s)", silero ? "Silero VAD" : "voice activity", (int)len,
                      (const char *)l->head + 8);
    } else say(l->k, is_transducer(l) ? PROBE_GGML_TDT : PROBE_GGML, "whisper.cpp .bin", "");
    return 1;
}

/* Skip a value of GGUF. @return 0 when it cannot be skipped */
static int gguf_skip(struct rd *r, uint32_t type, int wide)
{
    static const uint8_t size[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
    enum { STRING = 8, ARRAY = 9 };
    uint64_t n = 1;
    if (type == ARRAY) {
        type = rd_u32(r);
        n = wide ? rd_u64(r) : rd_u32(r);
        if (type == ARRAY) return 0;
    }
    if (type >= sizeof size || (type == STRING && n > STRING_MAX)) return 0;
    for (; type == STRING && n && !r->err; n--) rd_skip(r, wide ? rd_u64(r) : rd_u32(r));
    if (type != STRING && n > rd_left(r) / size[type]) return 0;
    if (type != STRING) rd_skip(r, n * size[type]);
    return !r->err;
}

/* The text of a key. @return its length, 0: none */
static size_t gguf_text(const struct file *f, const char *want, char *out, size_t cap)
{
    enum { LONGEST = 32 };
    const size_t want_n = strlen(want);
    struct rd r;
    rd_init(&r, f, 4, f->size);
    const int wide = rd_u32(&r) > 1; /* version 1 had counts of 32 bits */
    (void)(wide ? rd_u64(&r) : rd_u32(&r));
    uint64_t n = wide ? rd_u64(&r) : rd_u32(&r);
    for (n = n < KEYS_MAX ? n : KEYS_MAX; n && !r.err; n--) {
        char key[LONGEST] = "";
        const uint64_t len = wide ? rd_u64(&r) : rd_u32(&r);
        if (len == want_n) rd_bytes(&r, key, want_n);
        else rd_skip(&r, len);
        const uint32_t type = rd_u32(&r);
        if (!strcmp(key, want) && type == 8) {
            const uint64_t size = wide ? rd_u64(&r) : rd_u32(&r);
            const size_t take_n = size < cap ? (size_t)size : cap;
            rd_bytes(&r, out, take_n);
            return r.err ? 0 : plain_word((const uint8_t *)out, take_n);
        }
        if (!gguf_skip(&r, type, wide)) return 0;
    }
    return 0;
}

static int look_gguf(const struct look *l)
{
    char arch[48];
    if (l->n < 4 || memcmp(l->head, "GGUF", 4) != 0) return 0;
    if (gguf_text(l->f, "general.type", arch, sizeof arch) == 7 && !memcmp(arch, "adapter", 7)) {
        say(l->k, PROBE_OTHER, "a LoRA adapter, which is not a model by itself",
            "merge it into its base model (llama-export-lora of llama.cpp) and use the result");
        return 1;
    }
    const size_t n = gguf_text(l->f, "general.architecture", arch, sizeof arch);
    static const char *const speech[] = { "whisper", "sensevoice", "paraformer", "funasr", "fsmn", "asr", "parakeet", "wav2vec",
                                          "moonshine" };
    int is_speech = !n;
    for (size_t i = 0; i < sizeof speech / sizeof *speech; i++)
        is_speech |= n >= strlen(speech[i]) && !memcmp(arch, speech[i], strlen(speech[i]));
    say(l->k, PROBE_GGUF, "a GGUF file", is_speech ? "" : "it does not recognise speech: take " FORMS);
    l->k->readable = is_speech;
    if (n) snprintf(l->k->what, sizeof l->k->what, "a GGUF file of the architecture %.*s", (int)n, arch);
    return 1;
}

/* What CTranslate2's other specifications are. */
static const struct { const char *spec, *is; } other_spec[] = {
    { "TransformerSpec", "a translation model" },        { "TransformerDecoderSpec", "a language model" },
    { "TransformerEncoderSpec", "a text encoder" },      { "TransformerBigSpec", "a translation model" },
    { "TransformerBaseSpec", "a translation model" },    { "Wav2Vec2Spec", "Wav2Vec2" },
    { "Wav2Vec2BertSpec", "Wav2Vec2-BERT" },             { "T5EncoderSpec", "a text encoder" },
};

/* CTranslate2: a version, the length of a name with its NUL, the name ("WhisperSpec"). */
static int look_ctranslate2(const struct look *l)
{
    if (l->n < 8 || le(l->head, 4) < 1 || le(l->head, 4) > 99) return 0;
    const size_t len = (size_t)le(l->head + 4, 2);
    if (len < 6 || len > 64 || l->n < 6 + len || l->head[6 + len - 1] || plain_word(l->head + 6, len - 1) != len - 1) return 0;
    if (memcmp(l->head + 6 + len - 5, "Spec", 4) != 0) return 0;
    const char *spec = (const char *)l->head + 6;
    say(l->k, PROBE_CT2, "CTranslate2", "");
    for (size_t i = 0; i < sizeof other_spec / sizeof *other_spec; i++) {
        if (strcmp(spec, other_spec[i].spec) != 0) continue;
        say(l->k, PROBE_OTHER, "", "those of faster-whisper are read (WhisperSpec)");
        snprintf(l->k->what, sizeof l->k->what, "a CTranslate2 model of another kind (%s: %s)", spec, other_spec[i].is);
    }
    return 1;
}

/* ---- messages of protobuf ------------------------------------------------------------------------------------------------------ */

static int varint(const uint8_t *p, size_t n, size_t *at, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 63 && *at < n; shift += 7) {
        const uint8_t b = p[(*at)++];
        *out |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return 1;
    }
    return 0;
}

/* ONNX begins with its version (field 1) and has a graph (field 7). Core ML begins the same way and has its network in a field from 200
 * on. */
static int look_protobuf(const struct look *l)
{
    if (l->n < 8 || l->head[0] != 0x08 || l->head[1] < 1 || l->head[1] > 32) return 0;
    uint64_t at = 0;
    for (int i = 0; i < STEPS_MAX && at < l->f->size; i++) {
        uint8_t p[20];
        size_t used = 0;
        uint64_t tag, value;
        const size_t n = l->f->size - at < sizeof p ? (size_t)(l->f->size - at) : sizeof p;
        if (file_read(l->f, at, p, n, NULL) || !varint(p, n, &used, &tag)) return 0;
        const uint64_t field = tag >> 3, wire = tag & 7;
        if (!field || (wire != 0 && wire != 2) || !varint(p, n, &used, &value)) return 0;
        if (wire == 2 && (field == 7 || (field >= 200 && field < 4000))) {
            say(l->k, field == 7 ? PROBE_ONNX : PROBE_OTHER, field == 7 ? "an ONNX model" : "a Core ML model", probe_take);
            return 1;
        }
        at += used;
        if (wire == 2 && value > l->f->size - at) return 0;
        if (wire == 2) at += value;
    }
    return 0;
}

/* ---- archives ------------------------------------------------------------------------------------------------------------------ */

static const char torch_again[] = "load and save it with torch, or unpack it and pack its folder without compression (zip -0 -r)";

/* Is this entry of torch.save? */
static int is_torch_entry(const char *name, size_t n)
{
    static const char *const known_name[] = { "data.pkl", "byteorder", ".format_version", ".storage_alignment", ".data/serialization_id" };
    const char *slash = memchr(name, '/', n), *s = slash ? slash + 1 : name + n;
    const size_t left = n - (size_t)(s - name);
    for (size_t i = 0; i < sizeof known_name / sizeof *known_name; i++)
        if (left == strlen(known_name[i]) && !memcmp(s, known_name[i], left)) return 1;
    if (left <= 5 || memcmp(s, "data/", 5) != 0) return 0;
    for (size_t i = 5; i < left; i++)
        if (s[i] < '0' || s[i] > '9') return 0;
    return 1;
}

/* torch.save stores its entries uncompressed, all below one folder. An archive that begins otherwise is not from torch.save. */
static int look_zip(const struct look *l)
{
    enum { LOCAL_SZ = 30 };
    if (l->n < 4 || (memcmp(l->head, "PK\3\4", 4) != 0 && memcmp(l->head, "PK\5\6", 4) != 0)) return 0;
    say(l->k, PROBE_TORCH, "PyTorch (zip)", "");
    const size_t len = l->n > LOCAL_SZ && l->head[2] == 3 ? (size_t)le(l->head + 26, 2) : 0;
    if (!len || len > l->n - LOCAL_SZ) return 1;
    const char *name = (const char *)l->head + LOCAL_SZ;
    const uint64_t flags = le(l->head + 6, 2), method = le(l->head + 8, 2);
    if (len > 4 && !memcmp(name + len - 4, ".npy", 4)) say(l->k, PROBE_NPZ, "NumPy arrays (npz)", "");
    else if (!(flags & 1) && method == 8 && is_torch_entry(name, len))
        say(l->k, PROBE_OTHER, "a PyTorch file whose entries are compressed", torch_again);
    else if (!(flags & 1) && (method == 8 || !memchr(name, '/', len))) say(l->k, PROBE_OTHER, "a zip archive, not a PyTorch file", unpack);
    return 1;
}

/* A NeMo model is a tar archive with a configuration of this name near its beginning. */
static int look_tar(const struct look *l)
{
    if (l->n < 512 || memcmp(l->head + 257, "ustar", 5) != 0) return 0;
    say(l->k, PROBE_OTHER, "a tar archive", unpack);
    uint64_t at = 0;
    for (int i = 0; i < STEPS_MAX && at + 512 <= l->f->size; i++) {
        uint8_t p[512];
        if (file_read(l->f, at, p, sizeof p, NULL) || memcmp(p + 257, "ustar", 5) != 0) return 1;
        p[100] = 0;
        if (strstr((const char *)p, "model_config.yaml") || strstr((const char *)p, "model_weights.ckpt")) {
            say(l->k, PROBE_NEMO, "a NeMo model (tar archive)", "");
            return 1;
        }
        if (!strcmp((const char *)p, "storages") || !strcmp((const char *)p, "./storages")) {
            say(l->k, PROBE_OTHER, "a PyTorch file of before version 0.1.10 (a tar archive)", "load and save it with a current torch");
            return 1;
        }
        uint64_t size = 0;
        for (int k = 124; k < 135 && p[k] >= '0' && p[k] <= '7'; k++) size = size << 3 | (uint64_t)(p[k] - '0');
        at += 512 + (size + 511) / 512 * 512;
    }
    return 1;
}

/* ---- text ---------------------------------------------------------------------------------------------------------------------- */

/* All of the first bytes are UTF-8 without control characters; the last character may be cut. */
static int is_text(const struct look *l)
{
    for (size_t i = 0; i < l->n;) {
        uint32_t cp;
        const size_t n = utf8_next((const char *)l->head + i, l->n - i, &cp);
        if (!n) return l->n - i < 4 && l->n == HEAD;
        if (cp < ' ' && cp != '\n' && cp != '\r' && cp != '\t' && cp != '\f') return 0;
        i += n;
    }
    return l->n > 0;
}

static int begins(const char *s, size_t n, const char *word) /* ignores the case of letters */
{
    const size_t m = strlen(word);
    for (size_t i = 0; i < m && i < n; i++) {
        const char c = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32) : s[i];
        if (c != word[i]) return 0;
    }
    return n >= m;
}

static int look_text(const struct look *l)
{
    if (!is_text(l)) return 0;
    const char *s = (const char *)l->head, *const end = s + l->n;
    if (l->n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3)) s += 3;
    while (s < end && (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n')) s++;
    const size_t n = (size_t)(end - s);
    if (begins(s, n, "version https://git-lfs")) {
        const char *size = NULL;
        for (const char *c = s; !size && c + 6 < end; c++)
            if (!memcmp(c, "\nsize ", 6)) size = c + 6;
        size_t digits = 0;
        while (size && size + digits < end && digits < 18 && size[digits] >= '0' && size[digits] <= '9') digits++;
        say(l->k, PROBE_OTHER, "a pointer of Git LFS: the file itself was not fetched",
            "run \"git lfs pull\" in its folder, or download the file itself");
        if (digits)
            snprintf(l->k->what, sizeof l->k->what, "a pointer of Git LFS: the file itself, of %.*s bytes, was not fetched", (int)digits,
                     size);
    } else if (begins(s, n, "<!doctype") || begins(s, n, "<html") || begins(s, n, "<head") || begins(s, n, "<script"))
        say(l->k, PROBE_OTHER, "a web page",
            "download the file itself (on Hugging Face: the link with \"resolve\", not the one with \"blob\")");
    else if (begins(s, n, "<?xml") || begins(s, n, "<net"))
        say(l->k, PROBE_OTHER, "an XML file (as OpenVINO's are)", probe_take);
    else if (n && (*s == '{' || *s == '['))
        say(l->k, PROBE_JSON, "a JSON file", "name the folder that holds the model, or the file of its weights");
    else say(l->k, PROBE_TEXT, "a text file", "name the folder that holds the model, or the file of its weights");
    if (l->k->form == PROBE_JSON && *s == '{') /* an index begins with its sizes, or directly with the map */
        for (const char *c = s; !l->k->readable && c + 12 <= end; c++) l->k->readable = !memcmp(c, "\"weight_map\"", 12);
    if (l->k->readable) l->k->advice[0] = 0;
    return 1;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------------- */

static int look_table(const struct look *l)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (l->n < known[i].at + known[i].n || memcmp(l->head + known[i].at, known[i].bytes, known[i].n) != 0) continue;
        say(l->k, PROBE_OTHER, known[i].what, known[i].advice);
        return 1;
    }
    return 0;
}

/* Eight bytes of length, then JSON. */
static int look_safetensors(const struct look *l)
{
    if (l->n <= 8 || l->head[8] != '{' || le(l->head, 8) < 2 || le(l->head, 8) > 100000000) return 0;
    say(l->k, PROBE_SAFETENSORS, "safetensors", "");
    return 1;
}

/* Forms without a signature that are still likely: another pickle, a frame of MP3. */
static int look_likely(const struct look *l)
{
    if (l->n >= 2 && l->head[0] == 0x80 && l->head[1] >= 2 && l->head[1] <= 5)
        say(l->k, PROBE_OTHER, "a Python pickle, not a PyTorch file of today (a zip archive)",
            "if torch wrote it, load and save it with a current torch");
    else if (l->n >= 4 && l->head[0] == 0xff && (l->head[1] & 0xe6) == 0xe2 && (l->head[2] & 0xf0) != 0xf0 && (l->head[2] & 0x0c) != 0x0c)
        say(l->k, PROBE_OTHER, "a sound file (MP3)", sound_advice);
    else return 0;
    return 1;
}

int probe_file(struct file_probe *k, const struct file *f, steno_error *e)
{
    static int (*const look[])(const struct look *l) = { look_ggml,     look_gguf, look_safetensors, look_zip,  look_table,
                                                         look_protobuf, look_tar,  look_ctranslate2, look_text, look_likely };
    uint8_t head[HEAD];
    *k = (struct file_probe){ .form = PROBE_UNKNOWN };
    const size_t n = f->size < sizeof head ? (size_t)f->size : sizeof head;
    const int rc = file_read(f, 0, head, n, e);
    if (rc) return rc;
    const struct look l = { k, f, head, n };
    if (n < 4) {
        say(k, PROBE_EMPTY, "", "the copy did not end, or it is not the model: get it again");
        snprintf(k->what, sizeof k->what, n ? "%zu bytes hold no magic and no model" : "the file is empty", n);
        return STENO_OK;
    }
    for (size_t i = 0; i < sizeof look / sizeof *look; i++)
        if (look[i](&l)) return STENO_OK;
    say(k, PROBE_UNKNOWN, "", "want " FORMS);
    snprintf(k->what, sizeof k->what, "magic is %02x %02x %02x %02x, which is of no form that is known", head[0], head[1], head[2],
             head[3]);
    return STENO_OK;
}

int probe_refuse(const struct file_probe *k, const char *name, steno_error *e)
{
    const int is_known = k->form == PROBE_OTHER || k->form == PROBE_ONNX || k->form == PROBE_GGUF;
    const int status = is_known ? STENO_EUNSUPPORTED : STENO_EFORMAT;
    const int is_noun = is_known || k->form == PROBE_TEXT || k->form == PROBE_JSON;
    const char *is = is_noun ? k->file[0] ? " is " : "this is " : k->file[0] ? ": " : "";
    return err_set(e, status, "%s: %s%s%s; %s", name, k->file, is, k->what, k->advice);
}

int probe_check(const struct file *f, steno_error *e)
{
    struct file_probe k;
    const int rc = probe_file(&k, f, e);
    return rc || (k.form != PROBE_OTHER && k.form != PROBE_ONNX) ? rc : probe_refuse(&k, f->name, e);
}
