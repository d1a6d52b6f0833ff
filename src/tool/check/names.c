/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the dictionaries have a text for each number that records refer to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "reader/reader_internal.h"
#include "tool/check/check.h"

#define AP_SHOWN 3u

/* References to one kind of number that lead nowhere. */
typedef struct ap__missing {
    const char *what;
    uint64_t count;
    uint64_t first[AP_SHOWN]; /* different ones */
    uint32_t shown;
} ap__missing;

static void ap__miss(ap__missing *m, uint64_t id)
{
    m->count++;
    for (uint32_t i = 0; i < m->shown; i++) {
        if (m->first[i] == id) {
            return;
        }
    }
    if (m->shown < AP_SHOWN) {
        m->first[m->shown++] = id;
    }
}

static void ap__hash(ap__check *c, ap__missing *m, uint64_t id)
{
    if (id != 0 && ap__reader_hash_text(c->reader, id) == NULL) {
        ap__miss(m, id);
    }
}

static void ap__tell(ap__check *c, const ap__missing *m, const char *dictionary)
{
    char list[AP_SHOWN * 24] = "";
    size_t used = 0;

    if (m->count == 0) {
        return;
    }
    for (uint32_t i = 0; i < m->shown; i++) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%" PRIu64, i != 0 ? ", " : "",
                                 m->first[i]);
    }
    ap__check_found(c, AP_CHECK_UNNAMED, "%" PRIu64 " %s are not in %s: %s%s", m->count, m->what,
                    dictionary, list, m->shown == AP_SHOWN ? " …" : "");
}

static void ap__types(ap__check *c)
{
    ap__records *records =
        ap__records_open(c->reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    ap__missing types = {.what = "types of records"};
    ap__raw_record r;

    if (records == NULL) {
        c->no_memory = true;
        return;
    }
    while (ap__records_next(records, &r)) {
        if (r.type_name == NULL) {
            ap__miss(&types, r.type);
        }
    }
    ap__records_close(records);
    ap__tell(c, &types, "type_info_dic");
}

static void ap__stamps(ap__check *c)
{
    ap__missing domains = {.what = "domains of stamps"};
    uint64_t cut = 0;
    ap__stamp_record s;

    ap__reader_rewind(c->reader);
    while (ap__reader_next_stamp(c->reader, &s)) {
        if (s.domain != 0 && s.domain_name == NULL) {
            ap__miss(&domains, s.domain);
        }
        cut += s.message_cut;
    }
    ap__tell(c, &domains, "hash_dic");
    if (cut != 0) {
        ap__check_found(c, AP_CHECK_UNNAMED,
                        "%" PRIu64 " stamps have a message that is cut, and names.dic lacks the "
                        "rest",
                        cut);
    }
}

void ap__check_names(ap__check *c, const ap__model *model)
{
    ap__missing ops = {.what = "names and types of operators"};
    ap__missing kernels = {.what = "names of kernels"};
    ap__missing groups = {.what = "communication groups and algorithms"};

    for (uint32_t i = 0; i < model->node_count; i++) {
        ap__hash(c, &ops, model->nodes[i].name);
        ap__hash(c, &ops, model->nodes[i].op_type);
    }
    for (uint32_t i = 0; i < model->track_count; i++) {
        ap__hash(c, &kernels, model->tracks[i].kernel);
    }
    for (uint32_t i = 0; i < model->comm_info_count; i++) {
        ap__hash(c, &groups, model->comm_infos[i].group);
        ap__hash(c, &groups, model->comm_infos[i].algorithm);
    }
    ap__types(c);
    ap__tell(c, &ops, "hash_dic");
    ap__tell(c, &kernels, "hash_dic");
    ap__tell(c, &groups, "hash_dic");
    ap__stamps(c);
}
