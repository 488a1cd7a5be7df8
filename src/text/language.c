/* steno: languages and their names. SPDX-License-Identifier: MIT
 *
 * A language is found by its code in the vocabulary, by ISO 639-1, -2 (both kinds) and -3, by older codes still in use, and by its English
 * name. A code may be followed by the region and script of a BCP 47 tag, which no model distinguishes. */
#include "text/language.h"

#include <stdio.h>
#include <string.h>

static const struct { char code[4]; const char *name, *other; } language[N_LANGUAGES] = { /* in the order of their ids */
    { "en", "english", "eng" },
    { "zh", "chinese", "zho chi cmn" },
    { "de", "german", "deu ger" },
    { "es", "spanish", "spa" },
    { "ru", "russian", "rus" },
    { "ko", "korean", "kor" },
    { "fr", "french", "fra fre" },
    { "ja", "japanese", "jpn" },
    { "pt", "portuguese", "por" },
    { "tr", "turkish", "tur" },
    { "pl", "polish", "pol" },
    { "ca", "catalan", "cat" },
    { "nl", "dutch", "nld dut" },
    { "ar", "arabic", "ara arb" },
    { "sv", "swedish", "swe" },
    { "it", "italian", "ita" },
    { "id", "indonesian", "ind in" },
    { "hi", "hindi", "hin" },
    { "fi", "finnish", "fin" },
    { "vi", "vietnamese", "vie" },
    { "he", "hebrew", "heb iw" },
    { "uk", "ukrainian", "ukr" },
    { "el", "greek", "ell gre" },
    { "ms", "malay", "msa may zsm" },
    { "cs", "czech", "ces cze" },
    { "ro", "romanian", "ron rum mo mol" },
    { "da", "danish", "dan" },
    { "hu", "hungarian", "hun" },
    { "ta", "tamil", "tam" },
    { "no", "norwegian", "nor nb nob" },
    { "th", "thai", "tha" },
    { "ur", "urdu", "urd" },
    { "hr", "croatian", "hrv" },
    { "bg", "bulgarian", "bul" },
    { "lt", "lithuanian", "lit" },
    { "la", "latin", "lat" },
    { "mi", "maori", "mri mao" },
    { "ml", "malayalam", "mal" },
    { "cy", "welsh", "cym wel" },
    { "sk", "slovak", "slk slo" },
    { "te", "telugu", "tel" },
    { "fa", "persian", "fas per pes" },
    { "lv", "latvian", "lav lvs" },
    { "bn", "bengali", "ben" },
    { "sr", "serbian", "srp" },
    { "az", "azerbaijani", "aze azj" },
    { "sl", "slovenian", "slv" },
    { "kn", "kannada", "kan" },
    { "et", "estonian", "est ekk" },
    { "mk", "macedonian", "mkd mac" },
    { "br", "breton", "bre" },
    { "eu", "basque", "eus baq" },
    { "is", "icelandic", "isl ice" },
    { "hy", "armenian", "hye arm" },
    { "ne", "nepali", "nep npi" },
    { "mn", "mongolian", "mon khk" },
    { "bs", "bosnian", "bos" },
    { "kk", "kazakh", "kaz" },
    { "sq", "albanian", "sqi alb" },
    { "sw", "swahili", "swa swh" },
    { "gl", "galician", "glg" },
    { "mr", "marathi", "mar" },
    { "pa", "punjabi", "pan" },
    { "si", "sinhala", "sin" },
    { "km", "khmer", "khm" },
    { "sn", "shona", "sna" },
    { "yo", "yoruba", "yor" },
    { "so", "somali", "som" },
    { "af", "afrikaans", "afr" },
    { "oc", "occitan", "oci" },
    { "ka", "georgian", "kat geo" },
    { "be", "belarusian", "bel" },
    { "tg", "tajik", "tgk" },
    { "sd", "sindhi", "snd" },
    { "gu", "gujarati", "guj" },
    { "am", "amharic", "amh" },
    { "yi", "yiddish", "yid ydd ji" },
    { "lo", "lao", "lao" },
    { "uz", "uzbek", "uzb uzn" },
    { "fo", "faroese", "fao" },
    { "ht", "haitian creole", "hat" },
    { "ps", "pashto", "pus pbt" },
    { "tk", "turkmen", "tuk" },
    { "nn", "nynorsk", "nno" },
    { "mt", "maltese", "mlt" },
    { "sa", "sanskrit", "san" },
    { "lb", "luxembourgish", "ltz" },
    { "my", "myanmar", "mya bur" },
    { "bo", "tibetan", "bod tib" },
    { "tl", "tagalog", "tgl fil" },
    { "mg", "malagasy", "mlg plt" },
    { "as", "assamese", "asm" },
    { "tt", "tatar", "tat" },
    { "haw", "hawaiian", "haw" },
    { "ln", "lingala", "lin" },
    { "ha", "hausa", "hau" },
    { "ba", "bashkir", "bak" },
    { "jw", "javanese", "jv jav" },
    { "su", "sundanese", "sun" },
    { "yue", "cantonese", "yue" },
};

static const struct { const char *name; char code[4]; } alias[] = { /* openai-whisper 20250625, whisper/tokenizer.py */
    { "burmese", "my" }, { "valencian", "ca" }, { "flemish", "nl" }, { "haitian", "ht" }, { "letzeburgesch", "lb" }, { "pushto", "ps" },
    { "panjabi", "pa" }, { "moldavian", "ro" }, { "moldovan", "ro" }, { "sinhalese", "si" }, { "castilian", "es" }, { "mandarin", "zh" },
};

/* Country codes that are mistaken for languages, and native names of languages. */
static const struct { const char *wrong, *code; } mistake[] = {
    { "jp", "ja" }, { "cn", "zh" }, { "tw", "zh" }, { "kr", "ko" }, { "us", "en" }, { "gb", "en" }, { "dk", "da" }, { "se", "sv" },
    { "cz", "cs" }, { "gr", "el" }, { "ua", "uk" }, { "vn", "vi" }, { "ir", "fa" }, { "il", "he" }, { "rs", "sr" }, { "ee", "et" },
    { "ge", "ka" }, { "ph", "tl" }, { "mm", "my" }, { "kh", "km" }, { "al", "sq" }, { "by", "be" }, { "sp", "es" }, { "at", "de" },
    { "deutsch", "de" }, { "fran\xc3\xa7" "ais", "fr" }, { "francais", "fr" }, { "espa\xc3\xb1ol", "es" }, { "espanol", "es" },
    { "italiano", "it" }, { "portugu\xc3\xaas", "pt" }, { "portugues", "pt" }, { "nederlands", "nl" }, { "polski", "pl" },
    { "svenska", "sv" }, { "t\xc3\xbcrk\xc3\xa7" "e", "tr" }, { "\xd1\x80\xd1\x83\xd1\x81\xd1\x81\xd0\xba\xd0\xb8\xd0\xb9", "ru" },
    { "\xe4\xb8\xad\xe6\x96\x87", "zh" }, { "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "ja" },
    { "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4", "ko" },
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Whether a[n] and b are equal, ignoring the case of ASCII letters. b is in lower case. */
static int same(const char *a, size_t n, const char *b)
{
    size_t i = 0;
    for (; i < n && b[i] && lower(a[i]) == b[i]; i++) {}
    return i == n && !b[i];
}

/* Whether a[n] is one of the words of list. */
static int among(const char *a, size_t n, const char *list)
{
    for (const char *p = list; *p;) {
        const size_t k = strcspn(p, " ");
        char word[8];
        snprintf(word, sizeof word, "%.*s", (int)k, p);
        if (same(a, n, word)) return 1;
        p += k + (p[k] == ' ');
    }
    return 0;
}

static int code_find(const char *code, size_t n)
{
    for (int i = 0; i < N_LANGUAGES; i++)
        if (same(code, n, language[i].code) || among(code, n, language[i].other)) return i;
    return -1;
}

static int name_find(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
        if (same(name, n, alias[i].name)) return code_find(alias[i].code, strlen(alias[i].code));
    for (int i = 0; i < N_LANGUAGES; i++)
        if (same(name, n, language[i].name)) return i;
    return -1;
}

static size_t subtag(const char *p)
{
    return strcspn(p, "-_");
}

/* Whether the rest of a tag after its language is well-formed: subtags of one to eight letters or digits. */
static int rest_fits(const char *p)
{
    while (*p) {
        const size_t n = subtag(++p);
        if (n < 1 || n > 8) return 0;
        for (size_t i = 0; i < n; i++) {
            const char c = lower(p[i]);
            if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) return 0;
        }
        p += n;
    }
    return 1;
}

int language_find(const char *name)
{
    if (!name) return -1;
    const int named = name_find(name);
    if (named >= 0) return named;
    const size_t n = subtag(name);
    if (!rest_fits(name + n)) return -1;
    const int found = code_find(name, n);
    if (found != LANGUAGE_CHINESE || !name[n]) return found;
    const size_t k = subtag(name + n + 1); /* "zh-yue" is a language within a language */
    const int within = k == 3 ? code_find(name + n + 1, k) : -1;
    return within >= 0 ? within : found;
}

const char *language_next(const char *list, char name[LANGUAGE_NAME_SZ])
{
    const char *end = strchr(list, ',');
    const size_t all = end ? (size_t)(end - list) : strlen(list);
    size_t n = all;
    while (n && *list == ' ') list++, n--;
    while (n && list[n - 1] == ' ') n--;
    snprintf(name, LANGUAGE_NAME_SZ, "%.*s", (int)(n < LANGUAGE_NAME_SZ ? n : LANGUAGE_NAME_SZ - 1), list);
    return end ? end + 1 : NULL;
}

int language_is_list(const char *name)
{
    return name && strchr(name, ',') != NULL;
}

int language_is_auto(const char *name)
{
    return !name || same(name, strlen(name), "auto");
}

/* The number of letters to change, remove or insert; if it exceeds `max`, any larger number. */
static int distance(const char *a, size_t n, const char *b, int max)
{
    enum { LONGEST = 32 };
    const size_t m = strlen(b);
    int row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return max + 1;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            const int above = row[j], swap = corner + (lower(a[i - 1]) != b[j - 1]);
            const int gap = (above < row[j - 1] ? above : row[j - 1]) + 1;
            corner = above;
            row[j] = swap < gap ? swap : gap;
        }
    }
    return row[m];
}

int language_near(const char *name)
{
    enum { NEAR = 2, MIN_LEN = 4 /* letters: shorter names are close to too many others */ };
    const size_t n = subtag(name), all = strlen(name);
    for (size_t i = 0; i < sizeof mistake / sizeof *mistake; i++)
        if (same(name, n, mistake[i].wrong)) return code_find(mistake[i].code, 2);
    int best = -1, nearest = NEAR + 1;
    for (int i = 0; i < N_LANGUAGES && all >= MIN_LEN; i++) {
        const int d = distance(name, all, language[i].name, NEAR);
        if (d < nearest) nearest = d, best = i;
    }
    return best;
}

int language_refuse(steno_error *e, const char *name, const char *(*code)(int i), int n)
{
    char list[512] = "";
    size_t at = 0;
    const char *near = language_code(language_near(name));
    int known = 0;
    for (int i = 0; i < n; i++) {
        known |= near && !strcmp(near, code(i));
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", code(i));
        if (at >= sizeof list) break;
    }
    return err_set(e, STENO_EARG, "language '%.40s' is not known to this model%s%s%s it knows %s", name, known ? ", did you mean " : "",
                   known ? near : "", known ? "?" : ";", list);
}

const char *language_code(int i)
{
    return i >= 0 && i < N_LANGUAGES ? language[i].code : NULL;
}

const char *language_name(int i)
{
    return i >= 0 && i < N_LANGUAGES ? language[i].name : NULL;
}
