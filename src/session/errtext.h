/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread's last failure: ACL code, EK code and text. */
#ifndef AP_SESSION_ERRTEXT_H_
#define AP_SESSION_ERRTEXT_H_

#include "acl/acl_prof.h"

/* EK codes in the vendor's numbering; the catalogue of texts is in errtext.c. */
typedef enum ap__ek {
    AP_EK_BAD_VALUE = 1,  /* EK0001: value, parameter, reason */
    AP_EK_CALL_ORDER = 2, /* EK0002: call first, then */
    AP_EK_BAD_CONFIG = 3, /* EK0003: value, config, reason */
    AP_EK_NO_API = 4,     /* EK0004: unsupported call */
    AP_EK_NO_PARAM = 5,   /* EK0005: unsupported parameter */
    AP_EK_NULL = 6,       /* EK0006: call, parameter */
    AP_EK_MODE = 7,       /* EK0007: mode conflict */
    AP_EK_MEMORY = 201,   /* EK0201 */
    AP_EK_THREAD = 203,   /* EK0203 */
    AP_EK_DISK = 204,     /* EK0204 */
    AP_EK_INNER = 9999    /* EK9999 */
} ap__ek;

/* Records a failure of the exported call `api` and returns `code`. The format gives the sentence
 * after the EK code: value, parameter, allowed range and what to do. Preserves errno. */
aclError ap__fail(aclError code, ap__ek ek, const char *api, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* As ap__fail with the vendor's EK0006 sentence. Returns ACL_ERROR_INVALID_PARAM. */
aclError ap__fail_null(const char *api, const char *param);

/* For hot paths: one thread-local store; text is formatted when somebody asks for it.
 * `site` must have static storage. Not reported on stderr or elsewhere. Returns site->code. */
typedef struct ap__fail_site {
    aclError code;
    ap__ek ek;
    const char *api;
    const char *text;
} ap__fail_site;
/* newer than the thread's text when not NULL */
extern __thread const ap__fail_site *ap__last_site
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline aclError ap__fail_quick(const ap__fail_site *site)
{
    ap__last_site = site;
    return site->code;
}

/* As ap__fail with the vendor's EK0001 sentence: `Value [...] for parameter <param> is invalid.
 * Reason: <reason>.` The value is any bytes: it is escaped and shortened. */
aclError ap__fail_value(aclError code, const char *api, const char *param, const char *value,
                        size_t length, const char *reason, ...)
    __attribute__((format(printf, 6, 7)));

/* As ap__fail with the vendor's EK0002 sentence. */
aclError ap__fail_order(aclError code, const char *api, const char *first, const char *why);

/* Between hold and release of one thread failures are kept from stderr and the vendor's error
 * manager: both may wait for something that waits for our locks (dlsym for the loader's lock).
 * The outermost release reports the last one. Nest at will. */
void ap__fail_hold(void);
void ap__fail_release(void);

/* Writes `length` bytes as printable text, bytes that are no ASCII text or UTF-8 as \xNN; what
 * does not fit ends in "...". Always NUL-terminated; returns the length of what was written. */
#define AP_QUOTE_SIZE 160u
size_t ap__quote(char *out, size_t size, const char *bytes, size_t length);

/* Never NULL. */
const char *ap__last_error(void);

/* Finds the vendor's error manager; dlsym(RTLD_DEFAULT), replaced by tests. */
extern void *(*ap__vendor_lookup)(const char *symbol);

/* A line for the person, on stderr, only when ACLPROF_LOG allows the level:
 * unset/off: nothing; error: failures; warn: + losses; info: + the line at Stop; debug. */
typedef enum ap__log_level {
    AP_LOG_OFF,
    AP_LOG_ERROR,
    AP_LOG_WARN,
    AP_LOG_INFO,
    AP_LOG_DEBUG
} ap__log_level;
/* -1 until ACLPROF_LOG has been read; tests set it. */
extern _Atomic int ap__log_level_now;
int ap__log_enabled(ap__log_level level);
void ap__log(ap__log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
