/* steno: names and exit codes of the verb models. SPDX-License-Identifier: MIT */
#include "models/models_verbs.h"
#include "known.h"
#include "cli/signals.h"
#include "wanted.h"
#include <stdio.h>
#include <string.h>

int models_failed(const struct hub_error *e)
{
    static const int code[] = {
        [HUB_OK] = EXIT_OK, [HUB_EARG] = EXIT_USAGE, [HUB_EABSENT] = EXIT_MODEL, [HUB_EDAMAGED] = EXIT_MODEL, [HUB_EWRITE] = EXIT_OUTPUT,
        [HUB_ENET] = EXIT_NETWORK, [HUB_ENOMEM] = EXIT_MEMORY,
    };
    if (e->status == HUB_ESTOPPED && signals_pending()) return EXIT_SIGNAL + signals_pending();
    message("%s", e->text);
    return e->status < HUB_ESTOPPED ? code[e->status] : EXIT_NETWORK;
}

int models_spec(struct hub_spec *spec, const char *name, struct hub_error *e)
{
    struct hub_known known;
    memset(spec, 0, sizeof *spec);
    if (strchr(name, '/')) return hub_spec_read(spec, name, e);
    if (!hub_known_find(&known, name))
        return hub_fail(e, HUB_EABSENT, "%s: no model of that name is known; \"steno models list --all\" lists them, and ORG/NAME names "
                        "any", name);
    snprintf(spec->id, sizeof spec->id, "%s", known.repo);
    if (known.file[0] && hub_is_single(known.file)) snprintf(spec->file, sizeof spec->file, "%s", known.file);
    return HUB_OK;
}
