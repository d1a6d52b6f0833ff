/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acl_base.h
 * The few base types and error codes that acl_prof.h needs, for machines without CANN.
 *
 * Steps aside for CANN's own acl_base.h, whether that was included before or only lies further
 * down the include path: then CANN's header gives everything and this one adds nothing. Thus
 * acl/acl_prof.h may stand before or after CANN's acl/acl.h. CANN's header must be reachable
 * as <acl/acl_base.h> (or <acl_base.h>); where it is only reached by an absolute path, include
 * it first. This file never defines CANN's include guards: CANN's acl_rt.h needs much more of
 * acl_base.h than is given here.
 *
 * Define ACLPROF_NO_CANN_HEADERS to ignore headers that are only on the include path.
 */
#ifndef ACLPROF_ACL_BASE_H_
#define ACLPROF_ACL_BASE_H_

#if !defined(INC_EXTERNAL_ACL_ACL_BASE_H_) && !defined(INC_EXTERNAL_ACL_ACL_BASE_RT_H_) && \
    !defined(ACLPROF_NO_CANN_HEADERS) && defined(__has_include_next)
#if __has_include_next(<acl/acl_base.h>)
#pragma GCC system_header /* #include_next is no ISO C: quiet under -pedantic */
#include_next <acl/acl_base.h>
#elif __has_include_next(<acl_base.h>)
#pragma GCC system_header
#include_next <acl_base.h>
#endif
#endif

/* Asked again: what was found may have been a second copy of this file. */
#if !defined(INC_EXTERNAL_ACL_ACL_BASE_H_) && !defined(INC_EXTERNAL_ACL_ACL_BASE_RT_H_)

#include <stddef.h>
#include <stdint.h>

#ifndef ACL_FUNC_VISIBILITY
#if defined(__GNUC__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** 0 or an error code. */
typedef int aclError;

/** A stream of the runtime; only handed on. */
typedef void *aclrtStream;

/* The codes: in C++ constants with a scope as in CANN (`::ACL_SUCCESS` is legal there), in C
 * macros, so that they may stand in case labels and static initialisers. */
#ifdef __cplusplus
#ifndef ACL_ERROR_NONE
static const int ACL_ERROR_NONE = 0; /**< same as ACL_SUCCESS */
#endif
#ifndef ACL_SUCCESS
static const int ACL_SUCCESS = 0;
#endif
#ifndef ACL_ERROR_INVALID_PARAM
static const int ACL_ERROR_INVALID_PARAM = 100000; /**< NULL, out of range, no live handle */
#endif
#ifndef ACL_ERROR_UNINITIALIZE
static const int ACL_ERROR_UNINITIALIZE = 100001; /**< settings could not be created */
#endif
#ifndef ACL_ERROR_REPEAT_INITIALIZE
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002; /**< aclprofInit twice */
#endif
#ifndef ACL_ERROR_INVALID_FILE
static const int ACL_ERROR_INVALID_FILE = 100003; /**< result path unusable */
#endif
#ifndef ACL_ERROR_INVALID_PROFILING_CONFIG
/** setting refused; another config runs */
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
#endif
#ifndef ACL_ERROR_INVALID_MODEL_ID
static const int ACL_ERROR_INVALID_MODEL_ID = 100011; /**< model not loaded or not subscribed */
#endif
#ifndef ACL_ERROR_COMPILING_STUB_MODE
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039; /**< only from CANN's link-time stub */
#endif
#ifndef ACL_ERROR_PROF_ALREADY_RUN
static const int ACL_ERROR_PROF_ALREADY_RUN = 100042; /**< another capture has the process */
#endif
#ifndef ACL_ERROR_PROF_NOT_RUN
static const int ACL_ERROR_PROF_NOT_RUN = 100043; /**< no capture runs */
#endif
#ifndef ACL_ERROR_PROF_REPEAT_SUBSCRIBE
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046; /**< model subscribed already */
#endif
#ifndef ACL_ERROR_PROF_API_CONFLICT
/** capture and subscription exclude each other */
static const int ACL_ERROR_PROF_API_CONFLICT = 148047;
#endif
#ifndef ACL_ERROR_BAD_ALLOC
static const int ACL_ERROR_BAD_ALLOC = 200000; /**< out of memory */
#endif
#ifndef ACL_ERROR_FEATURE_UNSUPPORTED
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006; /**< not in this environment */
#endif
#ifndef ACL_ERROR_PROF_MODULES_UNSUPPORTED
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007; /**< unknown bit in dataTypeConfig */
#endif
#ifndef ACL_ERROR_GE_FAILURE
static const int ACL_ERROR_GE_FAILURE = 500002; /**< runtime refused a trace task */
#endif
#ifndef ACL_ERROR_PROFILING_FAILURE
/** capture could not be set up or finished */
static const int ACL_ERROR_PROFILING_FAILURE = 500005;
#endif
#else
#ifndef ACL_ERROR_NONE
#define ACL_ERROR_NONE 0
#endif
#ifndef ACL_SUCCESS
#define ACL_SUCCESS 0
#endif
#ifndef ACL_ERROR_INVALID_PARAM
#define ACL_ERROR_INVALID_PARAM 100000
#endif
#ifndef ACL_ERROR_UNINITIALIZE
#define ACL_ERROR_UNINITIALIZE 100001
#endif
#ifndef ACL_ERROR_REPEAT_INITIALIZE
#define ACL_ERROR_REPEAT_INITIALIZE 100002
#endif
#ifndef ACL_ERROR_INVALID_FILE
#define ACL_ERROR_INVALID_FILE 100003
#endif
#ifndef ACL_ERROR_INVALID_PROFILING_CONFIG
#define ACL_ERROR_INVALID_PROFILING_CONFIG 100010
#endif
#ifndef ACL_ERROR_INVALID_MODEL_ID
#define ACL_ERROR_INVALID_MODEL_ID 100011
#endif
#ifndef ACL_ERROR_COMPILING_STUB_MODE
#define ACL_ERROR_COMPILING_STUB_MODE 100039
#endif
#ifndef ACL_ERROR_PROF_ALREADY_RUN
#define ACL_ERROR_PROF_ALREADY_RUN 100042
#endif
#ifndef ACL_ERROR_PROF_NOT_RUN
#define ACL_ERROR_PROF_NOT_RUN 100043
#endif
#ifndef ACL_ERROR_PROF_REPEAT_SUBSCRIBE
#define ACL_ERROR_PROF_REPEAT_SUBSCRIBE 148046
#endif
#ifndef ACL_ERROR_PROF_API_CONFLICT
#define ACL_ERROR_PROF_API_CONFLICT 148047
#endif
#ifndef ACL_ERROR_BAD_ALLOC
#define ACL_ERROR_BAD_ALLOC 200000
#endif
#ifndef ACL_ERROR_FEATURE_UNSUPPORTED
#define ACL_ERROR_FEATURE_UNSUPPORTED 200006
#endif
#ifndef ACL_ERROR_PROF_MODULES_UNSUPPORTED
#define ACL_ERROR_PROF_MODULES_UNSUPPORTED 200007
#endif
#ifndef ACL_ERROR_GE_FAILURE
#define ACL_ERROR_GE_FAILURE 500002
#endif
#ifndef ACL_ERROR_PROFILING_FAILURE
#define ACL_ERROR_PROFILING_FAILURE 500005
#endif
#endif /* __cplusplus */

#ifdef __cplusplus
}
#endif

#endif /* no acl_base.h of CANN */

#endif /* ACLPROF_ACL_BASE_H_ */
