/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/errtext.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"

#define AP_TEXT_SIZE 1024u
#define AP_TAIL_SIZE 64u /* room for the call and the code behind the sentence */
#define AP_REASON_SIZE 640u

/* error_message::ReportUserDefinedErrMsg(const char *code, const char *format, ...) of the
 * vendor's error manager, returning int. Name and signature are known from public headers only
 * and have not been tried against that library; where it is not loaded nothing is called. */
#define AP_VENDOR_REPORT "_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z"
typedef int (*ap__vendor_report)(const char *code, const char *format, ...);

typedef struct ap__last {
    char *text;                /* AP_TEXT_SIZE bytes, made at the first failure */
    unsigned hold;
    bool pending; /* text has not been reported because of hold */
} ap__last;

static __thread ap__last ap__mine __attribute__((tls_model("initial-exec")));
__thread const ap__fail_site *ap__last_site __attribute__((tls_model("initial-exec")));

static const ap__fail_site ap__no_memory = {
    ACL_ERROR_BAD_ALLOC, AP_EK_MEMORY, "aclprofGetLastError",
    "A call of this thread failed and no host memory was left for the text."};

static pthread_once_t ap__key_once = PTHREAD_ONCE_INIT;
static pthread_key_t ap__key;
static _Atomic int ap__key_live;

static void *ap__lookup_global(const char *symbol)
{
    void *found = dlsym(RTLD_DEFAULT, symbol);

    if (found == NULL) {
        (void)dlerror(); /* the host's next dlerror() must not tell of this */
    }
    return found;
}

void *(*ap__vendor_lookup)(const char *symbol) = ap__lookup_global;

/* ---- the thread's buffer ---- */

/* Destructors of other keys may fail after this one: it then runs again. */
static void ap__thread_gone(void *text)
{
    free(text);
    ap__mine.text = NULL;
}

static void ap__make_key(void)
{
    if (pthread_key_create(&ap__key, ap__thread_gone) == 0) {
        atomic_store(&ap__key_live, 1);
    }
}

/* With dlclose no destructor of ours may be called any more; buffers of other threads stay. Runs
 * after those without a priority, which may still fail. */
__attribute__((destructor(101))) static void ap__errtext_unload(void)
{
    if (atomic_exchange(&ap__key_live, 0) != 0) {
        (void)pthread_key_delete(ap__key);
        ap__thread_gone(ap__mine.text);
    }
}

static char *ap__buffer(void)
{
    if (ap__mine.text == NULL) {
        char *text = calloc(1, AP_TEXT_SIZE);

        if (text == NULL) {
            return NULL;
        }
        (void)pthread_once(&ap__key_once, ap__make_key);
        if (atomic_load(&ap__key_live) != 0) {
            (void)pthread_setspecific(ap__key, text); /* else it stays until the process ends */
        }
        ap__mine.text = text;
    }
    return ap__mine.text;
}

/* ---- text ---- */

static size_t ap__utf8_length(const unsigned char *s, size_t length)
{
    size_t bytes = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    char copy[4];

    if (s[0] < 0xC2 || bytes > length || (s[0] == 0xC2 && s[1] < 0xA0) ||
        ap__utf8_clean(copy, bytes, (const char *)s, bytes) != bytes ||
        memcmp(copy, s, bytes) != 0) {
        return 0;
    }
    return bytes;
}

size_t ap__quote(char *out, size_t size, const char *bytes, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    static const char more[] = "...";
    const unsigned char *s = (const unsigned char *)bytes;
    size_t used = 0;
    size_t fits = 0; /* length with which "..." still has room */
    size_t in = 0;

    while (in < length) {
        size_t take = s[in] >= 0x20 && s[in] < 0x7F ? 1 : 0;
        char put[4] = {'\\', 'x', hex[s[in] >> 4], hex[s[in] & 15]};
        size_t n = sizeof(put);

        if (take == 0 && s[in] >= 0x80) {
            take = ap__utf8_length(s + in, length - in);
        }
        if (take != 0) {
            memcpy(put, s + in, take);
            n = take;
        }
        if (used + n >= size) {
            memcpy(out + fits, more, sizeof(more));
            return fits + sizeof(more) - 1;
        }
        memcpy(out + used, put, n);
        used += n;
        in += take != 0 ? take : 1;
        fits = used + sizeof(more) <= size ? used : fits;
    }
    out[used] = '\0';
    return used;
}

/* Sentence in, full text out: `EK0001: sentence (aclprofInit, 100000)`, on one line. */
static void ap__compose(char *text, ap__ek ek, const char *api, aclError code, const char *format,
                        va_list args) __attribute__((format(printf, 5, 0)));

static void ap__compose(char *text, ap__ek ek, const char *api, aclError code, const char *format,
                        va_list args)
{
    size_t used = (size_t)snprintf(text, AP_TEXT_SIZE, "EK%04d: ", (int)ek);
    size_t room = AP_TEXT_SIZE - used - 1;
    int n = vsnprintf(text + used, room + 1, format, args);
    size_t held = n <= 0 ? 0 : (size_t)n < room ? (size_t)n : room;
    size_t length = used + ap__utf8_cut(text + used, held, room - AP_TAIL_SIZE);

    for (size_t i = used; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) {
            text[i] = '?';
        }
    }
    (void)snprintf(text + length, AP_TEXT_SIZE - length, " (%s, %d)", api, code);
}

static void ap__compose_plain(char *text, ap__ek ek, const char *api, aclError code,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));

static void ap__compose_plain(char *text, ap__ek ek, const char *api, aclError code,
                              const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ap__compose(text, ek, api, code, format, args);
    va_end(args);
}

/* ---- reporting ---- */

static void ap__report(void)
{
    const char *text = ap__mine.text;
    char ek[8];
    union {
        void *object;
        ap__vendor_report function;
    } vendor;

    ap__mine.pending = false;
    ap__log(AP_LOG_ERROR, "%s", text);
    vendor.object = ap__vendor_lookup(AP_VENDOR_REPORT);
    if (vendor.object != NULL) {
        memcpy(ek, text, 6); /* "EK0001" */
        ek[6] = '\0';
        (void)vendor.function(ek, "%s", text + 8);
    }
}

void ap__fail_hold(void)
{
    ap__mine.hold++;
}

void ap__fail_release(void)
{
    int saved = errno;

    if (--ap__mine.hold == 0 && ap__mine.pending) {
        ap__report();
    }
    errno = saved;
}

/* ---- failures ---- */

aclError ap__fail(aclError code, ap__ek ek, const char *api, const char *format, ...)
{
    int saved = errno;
    char *text = ap__buffer();
    va_list args;

    if (text == NULL) {
        ap__last_site = &ap__no_memory;
        errno = saved;
        return code;
    }
    va_start(args, format);
    ap__compose(text, ek, api, code, format, args);
    va_end(args);
    ap__last_site = NULL;
    ap__mine.pending = true;
    if (ap__mine.hold == 0) {
        ap__report();
    }
    errno = saved;
    return code;
}

aclError ap__fail_null(const char *api, const char *param)
{
    return ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_NULL, api,
                    "%s failed because parameter %s cannot be a null pointer.", api, param);
}

aclError ap__fail_value(aclError code, const char *api, const char *param, const char *value,
                        size_t length, const char *reason, ...)
{
    int saved = errno;
    char quoted[AP_QUOTE_SIZE];
    char why[AP_REASON_SIZE];
    va_list args;

    (void)ap__quote(quoted, sizeof(quoted), value, length);
    va_start(args, reason);
    (void)vsnprintf(why, sizeof(why), reason, args);
    va_end(args);
    errno = saved;
    return ap__fail(code, AP_EK_BAD_VALUE, api,
                    "Value [%s] for parameter %s is invalid. Reason: %s.", quoted, param, why);
}

aclError ap__fail_order(aclError code, const char *api, const char *first, const char *why)
{
    return ap__fail(code, AP_EK_CALL_ORDER, api,
                    "Please call the APIs in the following order: call %s first, then %s. "
                    "Reason: %s.",
                    first, api, why);
}

const char *ap__last_error(void)
{
    const ap__fail_site *site = ap__last_site;
    int saved = errno;
    char *text = ap__mine.text;

    if (site != NULL) {
        text = ap__buffer();
        if (text == NULL) {
            errno = saved;
            return site->text;
        }
        ap__compose_plain(text, site->ek, site->api, site->code, "%s", site->text);
        ap__last_site = NULL;
    }
    errno = saved;
    return text != NULL ? text : "";
}
