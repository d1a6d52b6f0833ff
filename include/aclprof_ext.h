/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file aclprof_ext.h
 * Calls of libacl_prof.so beyond acl/acl_prof.h: semi-public and legacy calls that real
 * programs bind to, and this library's own (last error, statistics).
 *
 * Every struct that a caller passes begins with its size, so that it can grow: set
 * `size = sizeof(struct …)` before the call; the library fills at most that many bytes.
 */
#ifndef ACLPROF_EXT_H_
#define ACLPROF_EXT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_prof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- semi-public calls of the vendor's library ---- */

/**
 * Prepares a capture like aclprofStart, but discards what is recorded until aclprofStart is
 * called with the same config.
 * @retval 0 the capture is warm
 * @retval 100000 NULL, foreign or destroyed config; bad metric (see aclprofStart)
 * @retval 100003 the result directory cannot be made; 100043 no aclprofInit before
 * @retval 148047 a capture (or a warm-up) already runs
 * Thread-safe; serialised with the other control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofWarmup(const aclprofConfig *profilerConfig);

/**
 * Sets a stamp's category number; it is recorded with each event of the stamp until changed.
 * @retval 0; 100000 NULL, foreign or destroyed stamp
 * Thread-safe, wait-free.
 */
ACL_FUNC_VISIBILITY aclError aclprofSetStampCategory(void *stamp, uint32_t category);

/**
 * Sets a stamp's payload: a type tag of the caller's and an 8-byte value.
 * @param type  any number; recorded as it is
 * @param value points to 8 bytes (uint64_t, int64_t or double), copied before return
 * @retval 0; 100000 NULL value, or NULL, foreign or destroyed stamp
 * Thread-safe, wait-free.
 */
ACL_FUNC_VISIBILITY aclError aclprofSetStampPayload(void *stamp, const int32_t type, void *value);

/**
 * Names a category number. The names go to `host/.aclprof/` for this project's reader.
 * @retval 0; 100000 NULL or empty name; 100043 no session with ACL_PROF_MSPROFTX
 * Thread-safe; takes a lock and allocates: not for hot paths.
 */
ACL_FUNC_VISIBILITY aclError aclprofSetCategoryName(uint32_t category, const char *categoryName);

/**
 * What this library has beyond the first release of the API: an array of records of 272 bytes that
 * frameworks read through a C++ class (name at 8, compatibility at 80, version at 96, component
 * at 112, its version at 128, text at 144).
 * @param featuresSize receives the number of records
 * @param featuresData receives the array, which is the library's; `*featuresData` must be NULL
 * @retval 0; 100000 NULL, or `*featuresData` is not NULL
 * Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetSupportedFeatures(size_t *featuresSize, void **featuresData);
/** As aclprofGetSupportedFeatures, with what only some chips have (910B: MemoryAccess). */
ACL_FUNC_VISIBILITY aclError aclprofGetSupportedFeaturesV2(size_t *featuresSize,
                                                           void **featuresData);

/**
 * Devices that the program sets while a capture of others runs belong to it from then on.
 * @retval 0
 * Thread-safe; for the life of the process.
 */
ACL_FUNC_VISIBILITY aclError aclprofRegisterDeviceCallback(void);

/* ---- calls of older vendor releases, still referenced by programs ---- */

/**
 * Once switched stamps on and off; does nothing: the config says what is recorded.
 * @retval 0
 */
ACL_FUNC_VISIBILITY aclError aclprofMsproftxSwitch(bool isOpen);

/**
 * Once reported raw bytes under a tag; their layout was never published, nothing is recorded.
 * @retval 0; 100000 NULL tag or data
 */
ACL_FUNC_VISIBILITY aclError aclprofReportStamp(const char *tag, uint32_t tagLen,
                                                unsigned char *data, uint32_t dataLen);

/**
 * Attaches a tag name to a stamp (the vendor's record has no place for it: kept for this
 * project's reader).
 * @param len bytes of tagName that may be read; a NUL ends it earlier
 * @retval 0; 100000 NULL tagName, or NULL, foreign or destroyed stamp
 * Thread-safe; takes a lock the first time a text is seen.
 */
ACL_FUNC_VISIBILITY aclError aclprofSetStampTagName(void *stamp, const char *tagName,
                                                    uint16_t len);

/**
 * Attaches call-stack text to a stamp; as aclprofSetStampTagName.
 * @retval 0; 100000 NULL callStack, or NULL, foreign or destroyed stamp
 */
ACL_FUNC_VISIBILITY aclError aclprofSetStampCallStack(void *stamp, const char *callStack,
                                                      uint32_t len);

/* ---- this library's own ---- */

/**
 * Text of the calling thread's most recent failure: error code, EK code, value, parameter,
 * allowed range and what to do. "" when no call of this thread has failed.
 * @return never NULL; owned by the library, valid until this thread's next failing call.
 * Thread-safe; succeeding calls do not clear it.
 */
ACL_FUNC_VISIBILITY const char *aclprofGetLastError(void);

/**
 * Account and cost of the running capture, or of the last one when none runs.
 * emitted == written + lostTotal + pending holds exactly once the capture has stopped
 * (pending is then 0); while it runs each figure is a moment's reading.
 */
typedef struct aclprofStats {
    size_t size;                 /**< in: sizeof(aclprofStats); out: bytes filled */
    uint64_t emitted;            /**< events that calls have accepted */
    uint64_t written;            /**< records in the result directory now */
    uint64_t pending;            /**< still in rings */
    uint64_t lostTotal;          /**< sum of the causes below */
    uint64_t lostRingFull;       /**< the thread's ring was full */
    uint64_t lostNoRing;         /**< no memory or disk for the thread's ring */
    uint64_t lostReentrant;      /**< a signal handler stamped inside a stamp call */
    uint64_t lostDisk;           /**< write failed (disk full, quota, I/O error) */
    uint64_t lostAged;           /**< deleted again to keep ACL_PROF_STORAGE_LIMIT */
    uint64_t lostDamaged;        /**< ring content unreadable (never seen; host wrote into it) */
    uint64_t openAtStop;         /**< pushes and ranges never ended; not part of emitted */
    uint64_t cutMessages;        /**< messages longer than the record, cut on disk */
    uint64_t bytesWritten;       /**< bytes of record files written */
    uint64_t slicesRemoved;      /**< slices deleted for ACL_PROF_STORAGE_LIMIT */
    uint64_t callNs;             /**< estimated ns spent in this library's stamp calls (sampled) */
    uint64_t writerCpuNs;        /**< CPU time of the writer thread */
    uint64_t threads;            /**< threads that have recorded */
    uint64_t running;            /**< 1 while a capture with ACL_PROF_MSPROFTX runs */
    /* of all model subscriptions of the process; opRecords == opWritten + opLost once they ended */
    uint64_t opRecords; /**< records of operators */
    uint64_t opWritten; /**< written to the pipes of subscriptions that have ended */
    uint64_t opLost;    /**< the pipe was full or had no reader */
    uint64_t opMissed;  /**< tasks of the device whose operator nobody told, or that were too many */
} aclprofStats;

/**
 * Reads the account.
 * @retval 0; 100000 NULL, or size smaller than the first two fields
 * Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetStats(aclprofStats *stats);

/**
 * aclprofGetModelId under the name that the graph engine's programs use.
 *
 * @return the model's id; 0 for a bad argument
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY size_t aclprofGetGraphId(const void *opInfo, size_t opInfoLen, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif /* ACLPROF_EXT_H_ */
