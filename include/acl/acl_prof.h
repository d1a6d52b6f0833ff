/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acl_prof.h
 * Profiling of programs for Ascend NPUs: captures, stamps, model subscription, steps.
 * Names, values and layouts are those of CANN's header of the same name; the include guard
 * too, so that whichever of the two comes first is the one that counts.
 *
 * A minimal program (no device, no driver needed):
 * @code
 *     aclprofInit("/tmp/out", strlen("/tmp/out"));
 *     aclprofConfig *config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL,
 *                                                 ACL_PROF_MSPROFTX);
 *     aclprofStart(config);
 *     void *stamp = aclprofCreateStamp();
 *     aclprofSetStampTraceMessage(stamp, "load", 4);
 *     aclprofPush(stamp);
 *     ... what is to be measured ...
 *     aclprofPop();
 *     aclprofDestroyStamp(stamp);
 *     aclprofStop(config);
 *     aclprofDestroyConfig(config);
 *     aclprofFinalize();
 * @endcode
 *
 * Rules for all functions:
 * - Codes are ACL codes of acl_base.h: 0 or positive, never -1. The text that belongs to a
 *   thread's last failure (value, parameter, allowed range, what to do) is given by
 *   aclprofGetLastError() of aclprof_ext.h, also for calls that return NULL.
 * - Every function may be called from any thread at any time. Control calls (Init ... SetConfig)
 *   are serialised by one lock and act on the whole process; stamp calls take no lock and make
 *   no system call once the thread has recorded its first event.
 * - errno is preserved.
 * - Handles (configs, stamps) are checked, not trusted: a NULL, foreign or destroyed handle is
 *   refused with ACL_ERROR_INVALID_PARAM and its memory is not touched.
 * - ACLPROF_STRICT=1 in the environment replaces the lenient zeros by errors, where a function
 *   says so below.
 */
#ifndef INC_EXTERNAL_ACL_PROF_H_
#define INC_EXTERNAL_ACL_PROF_H_

#include <stddef.h>
#include <stdint.h>

/* Through the include path where possible, so that a CANN in front of us is found. */
#if defined(__has_include)
#if __has_include(<acl/acl_base.h>)
#include <acl/acl_base.h>
#elif __has_include(<acl_base.h>)
#include <acl_base.h>
#else
#include "acl_base.h"
#endif
#else
#include "acl_base.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @name Data types
 * Bits of the 64-bit dataTypeConfig of aclprofCreateConfig; or them together. Any other bit is
 * refused by aclprofStart. Keep the mask in an uint64_t: some bits lie above bit 31.
 * Without a device only ACL_PROF_MSPROFTX records something.
 * @{
 */
/** Intervals of the ACL calls of the host. */
#define ACL_PROF_ACL_API 0x0001ULL
/** Launch and execution of tasks, with basic operator information; implies TASK_TIME_L0 and
 *  TRAINING_TRACE. */
#define ACL_PROF_TASK_TIME 0x0002ULL
/** Performance counters for each task; aclprofAicoreMetrics says which. */
#define ACL_PROF_AICORE_METRICS 0x0004ULL
/** Start and end of AI CPU tasks. */
#define ACL_PROF_AICPU 0x0008ULL
/** L2 cache events of each task. */
#define ACL_PROF_L2CACHE 0x0010ULL
/** Tasks of collective communication. */
#define ACL_PROF_HCCL_TRACE 0x0020ULL
/** Iterations of a training. */
#define ACL_PROF_TRAINING_TRACE 0x0040ULL
/** Stamps of the program: aclprofMark, aclprofPush, aclprofRangeStart, ... */
#define ACL_PROF_MSPROFTX 0x0080ULL
/** Intervals of the runtime's calls. */
#define ACL_PROF_RUNTIME_API 0x0100ULL
/** Graph engine, scheduling on the host: coarse. */
#define ACL_PROF_GE_API_L0 0x0200ULL
/** Launch and execution of tasks, without operator information (cheapest). */
#define ACL_PROF_TASK_TIME_L0 0x0800ULL
/** Memory of the graph engine's operators. */
#define ACL_PROF_TASK_MEMORY 0x1000ULL
/** More detail than TASK_TIME, which it implies. */
#define ACL_PROF_TASK_TIME_L2 0x2000ULL
/** Attributes of operators; implies TASK_TIME. */
#define ACL_PROF_OP_ATTR 0x4000ULL
/** Most detail; implies TASK_TIME_L2. Few chips have it. */
#define ACL_PROF_TASK_TIME_L3 0x8000ULL
/** Graph engine, scheduling on the host: fine. */
#define ACL_PROF_GE_API_L1 0x01000000ULL
/** Statistics of the ACL calls only; replaces every other bit but ACL_API. */
#define ACL_PROF_API_STATS 0x0400000000ULL
/** Shapes of operators. */
#define ACL_PROF_AICORE_SHAPE 0x0800000000ULL
/** @} */

/** Size in bytes, NUL included, that is enough for the type name of any operator. */
#define ACL_PROF_MAX_OP_TYPE_LEN 65
/** Size in bytes, NUL included, that is enough for the name of any operator. */
#define ACL_PROF_MAX_OP_NAME_LEN 275

/** Group of performance counters of the AI cores; counts with ACL_PROF_AICORE_METRICS. */
typedef enum {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,   /**< share of cube and vector operations */
    ACL_AICORE_PIPE_UTILIZATION = 1,         /**< share of time of each pipe */
    ACL_AICORE_MEMORY_BANDWIDTH = 2,         /**< traffic of the memories outside the core */
    ACL_AICORE_L0B_AND_WIDTH = 3,            /**< traffic of the L0 memories */
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,  /**< conflicts of the pipes' queues */
    ACL_AICORE_MEMORY_UB = 5,                /**< traffic of the unified buffer */
    ACL_AICORE_L2_CACHE = 6,                 /**< L2 hits and misses; not on 310, 910, 310P */
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7, /**< as 1, executing only; 310B */
    ACL_AICORE_MEMORY_ACCESS = 8,            /**< accesses of the core to L2 and memory; A2, A3 */
    ACL_AICORE_NONE = 0xFF                   /**< no counters */
} aclprofAicoreMetrics;

/**
 * What aclprofSetConfig sets. The numbers are ordinals and not bits: or-ed together they name
 * another setting. 0 and 2 are no settings.
 */
typedef enum {
    ACL_PROF_ARGS_MIN = 0,
    /** "<n>MB", n 200 ... 4294967295: most that a result directory may hold; the oldest whole
     *  slices are removed, 20 MB of the file system stay free. "" is refused: aclprofFinalize
     *  resets. */
    ACL_PROF_STORAGE_LIMIT = 1,
    /** Hz, "1" ... "100" ("10000" on some chips): memory, LLC and SoC bandwidth. */
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
    /** "read" or "write": events of the LLC; counts with the setting above. */
    ACL_PROF_LLC_MODE = 4,
    /** Hz, "1" ... "100": network interfaces and RoCE. */
    ACL_PROF_SYS_IO_FREQ = 5,
    /** Hz, "1" ... "50": HCCS and PCIe. */
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
    /** Hz, "1" ... "100": image and video units. */
    ACL_PROF_DVPP_FREQ = 7,
    /** Comma list of cpu, mem, disk, network, osrt, numa: this process, host. */
    ACL_PROF_HOST_SYS = 8,
    /** Comma list of cpu, mem: whole host. */
    ACL_PROF_HOST_SYS_USAGE = 9,
    /** Hz, "1" ... "50": sampling of the two settings above. */
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
    /** Hz, "1" ... "100": power states. */
    ACL_PROF_LOW_POWER_FREQ = 11,
    /** Comma list of names of memory service flows. */
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
    /** Hz, "1" ... "50": control CPU of the device. */
    ACL_PROF_SYS_CPU_FREQ = 13,
    /** Comma list of operator types to be captured. */
    ACL_PROF_OPTYPE = 14,
    /** "PipeUtilization" or "Custom:" and 1 ... 10 comma-separated events 0 ... 65535. */
    ACL_PROF_NTS_METRICS = 15,
    /** Directory for results; before aclprofInit used by an aclprofStart without Init, after
     *  it used by the next aclprofStart. */
    ACL_PROF_PATH = 16,
    ACL_PROF_ARGS_MAX = 17
} aclprofConfigType;

/** Which edge of a step aclprofGetStepTimestamp marks. */
typedef enum {
    ACL_STEP_START = 0,
    ACL_STEP_END = 1
} aclprofStepTag;

/** What a record of a model subscription describes. */
typedef enum {
    ACL_SUBSCRIBE_OP = 0,        /**< an operator */
    ACL_SUBSCRIBE_SUBGRAPH = 1,  /**< a subgraph run as one */
    ACL_SUBSCRIBE_OP_THREAD = 2, /**< one thread of an operator */
    ACL_SUBSCRIBE_NONE = 0xFF    /**< no such record */
} aclprofSubscribeOpFlag;

/** Attribute that aclprofGetOpAttriValue reads. */
typedef enum {
    ACL_SUBSCRIBE_ATTRI_THREADID = 0, /**< thread number, records of ACL_SUBSCRIBE_OP_THREAD */
    ACL_SUBSCRIBE_ATTRI_NONE
} aclprofSubscribeOpAttri;

#ifndef ACL_PROF_TENSOR_INFO_DEFINED
#define ACL_PROF_TENSOR_INFO_DEFINED
/** A tensor of a kernel: 48 bytes. */
typedef struct {
    uint32_t type;     /**< 0 input, 1 output */
    uint32_t format;   /**< layout, the number of aclFormat */
    uint32_t dataType; /**< the number of aclDataType */
    uint32_t shapeDim; /**< dimensions used of shape, at most 8 */
    uint32_t shape[8]; /**< elements in each dimension */
} aclprofTensor;

/** A kernel launch and its tensors: 48 bytes on 64-bit machines. */
typedef struct {
    uint64_t opNameId;      /**< aclprofStr2Id of the operator's name */
    uint64_t opTypeId;      /**< aclprofStr2Id of the operator's type */
    uint32_t resv;          /**< 0 */
    uint32_t tensorNum;     /**< entries of tensors */
    uint32_t kernelType;    /**< kind of core */
    uint32_t blockNums;     /**< blocks the kernel is launched with */
    void *stream;           /**< aclrtStream of the launch */
    aclprofTensor *tensors; /**< tensorNum entries, the caller's */
} aclprofTensorInfo;

/** Argument of aclprofRangePushEx: 16 bytes on 64-bit machines. */
typedef struct {
    uint16_t version;     /**< 1 */
    uint16_t size;        /**< sizeof(aclprofEventAttributes) */
    uint32_t messageType; /**< 0: message.tensorInfo */
    union {
        aclprofTensorInfo *tensorInfo;
    } message;
} aclprofEventAttributes;
#endif /* ACL_PROF_TENSOR_INFO_DEFINED */

/** What to capture, on which devices; see aclprofCreateConfig. */
typedef struct aclprofConfig aclprofConfig;
/** Not in use. */
typedef struct aclprofStopConfig aclprofStopConfig;
/** Not in use; pass NULL. */
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
/** Settings of a model subscription; see aclprofCreateSubscribeConfig. */
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
/** A step; see aclprofCreateStepInfo. */
typedef struct aclprofStepInfo aclprofStepInfo;

/**
 * @name Control
 * @{
 */

/**
 * Opens the profiler for this process and names the directory for results. Creates nothing:
 * each aclprofStart that begins a capture makes a new PROF_* directory below it.
 *
 * @param profilerResultPath absolute or relative to the current directory of this moment; need
 *        not exist. Copied.
 * @param length strlen(profilerResultPath), 1 ... 4095 bytes
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) NULL; length out of range or not the string's
 * @retval ACL_ERROR_REPEAT_INITIALIZE (100002) already open; the first path stays
 * @retval ACL_ERROR_INVALID_FILE (100003) the absolute path has a control character or one of
 *         " ' \ % < > | & $ ; and the back-quote; or it can neither be used nor created: not a
 *         directory, not writable, a component too long
 * @retval ACL_ERROR_PROF_ALREADY_RUN (100042) the vendor's command line (PROFILER_SAMPLECONFIG)
 *         profiles this process
 * @retval ACL_ERROR_FEATURE_UNSUPPORTED (200006) PROFILING_MODE=dynamic is in the environment
 * @note Thread-safe; serialised with the other control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofInit(const char *profilerResultPath, size_t length);

/**
 * Closes the profiler. What still runs is stopped as by aclprofStop(NULL), so that its results
 * are complete. Settings of aclprofSetConfig go back to the defaults; configs and stamps stay
 * the caller's. aclprofInit may follow.
 *
 * @retval 0 also when it was not open
 * @retval ACL_ERROR_PROF_ALREADY_RUN (100042) the vendor's command line (PROFILER_SAMPLECONFIG)
 *         profiles this process
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) ACLPROF_STRICT=1: it was not open
 * @retval ACL_ERROR_PROFILING_FAILURE (500005) a running capture could not be finished on disk
 * @note Thread-safe; serialised with the other control calls. Waits until the data is on disk.
 */
ACL_FUNC_VISIBILITY aclError aclprofFinalize(void);

/**
 * Makes a config. It may be used for any number of Starts, before or after aclprofInit.
 *
 * @param deviceIdList deviceNums different device ids that the driver reports; copied; may be
 *        NULL when deviceNums is 0
 * @param deviceNums 0 ... 64; 0 (host only) needs ACL_PROF_MSPROFTX
 * @param aicoreMetrics counters; ACL_AICORE_NONE for none. Checked by aclprofStart.
 * @param aicoreEvents must be NULL
 * @param dataTypeConfig ACL_PROF_* bits. Checked by aclprofStart.
 * @return a config for aclprofDestroyConfig; NULL when an argument breaks these rules (where no
 *         Ascend driver is found, every device id does) or memory is short, with the reason in
 *         aclprofGetLastError()
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                                       aclprofAicoreMetrics aicoreMetrics,
                                                       const aclprofAicoreEvents *aicoreEvents,
                                                       uint64_t dataTypeConfig);

/**
 * Destroys a config. One that is running may be destroyed (aclprofStart took a copy); stop it
 * with an equal config or NULL.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) NULL, foreign, or destroyed already
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);

/**
 * Begins to capture. Takes a copy of the config and of the settings of aclprofSetConfig. Further
 * devices may be started while others run; they share one PROF_* directory as long as they
 * overlap. Starting a running device again with the same mask changes nothing. A Start that
 * fails leaves everything as it was.
 *
 * Without aclprofInit the profiler is opened here, with the path of ACL_PROF_PATH, else of
 * $ASCEND_WORK_PATH, else the current directory.
 *
 * @param profilerConfig what to capture; NULL: ACL_PROF_ACL_API, TASK_TIME, TASK_TIME_L0 and
 *        AICORE_METRICS with ACL_AICORE_PIPE_UTILIZATION on all devices that the process has set
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) config foreign or destroyed; NULL and no device set;
 *         dataTypeConfig 0; metrics unknown or not on this chip
 * @retval ACL_ERROR_INVALID_FILE (100003) result directory cannot be created or written
 * @retval ACL_ERROR_INVALID_PROFILING_CONFIG (100010) a running device with another mask; the
 *         running capture goes on
 * @retval ACL_ERROR_PROF_ALREADY_RUN (100042) ACLPROF_STRICT=1: a named device, or the host-only
 *         capture, runs already; or the vendor's command line (PROFILER_SAMPLECONFIG) profiles
 *         this process
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) ACLPROF_STRICT=1: no aclprofInit before
 * @retval ACL_ERROR_PROF_MODULES_UNSUPPORTED (200007) unknown bit in dataTypeConfig
 * @retval ACL_ERROR_PROFILING_FAILURE (500005) a chip lacks what a bit asks for; no memory, disk
 *         or thread for the capture
 * @note Thread-safe; serialised with the other control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig *profilerConfig);

/**
 * Ends a capture. Every event whose call returned before is on disk when this returns. Pushes
 * and ranges that are still open are not recorded; their number is in the account.
 *
 * @param profilerConfig the config of aclprofStart or an equal one; NULL stops whatever runs
 * @retval 0 also when nothing runs (not open: without a look at the argument)
 * @retval ACL_ERROR_INVALID_PARAM (100000) config foreign or destroyed; while running:
 *         dataTypeConfig 0
 * @retval ACL_ERROR_INVALID_PROFILING_CONFIG (100010) another mask than the one running; the
 *         capture goes on
 * @retval ACL_ERROR_PROF_ALREADY_RUN (100042) the vendor's command line (PROFILER_SAMPLECONFIG)
 *         profiles this process
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) ACLPROF_STRICT=1: nothing of what it names runs
 * @retval ACL_ERROR_PROF_MODULES_UNSUPPORTED (200007) while running: unknown bit
 * @retval ACL_ERROR_PROFILING_FAILURE (500005) stopped, but the files could not be finished
 * @note Thread-safe; serialised with the other control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofStop(const aclprofConfig *profilerConfig);

/**
 * Sets one setting for captures to come, before or after aclprofInit. It is kept until set
 * again or until aclprofFinalize. A refused value changes nothing; a running capture keeps what
 * it began with.
 *
 * @param configType one aclprofConfigType; they cannot be or-ed
 * @param config text as described at aclprofConfigType; copied
 * @param configLength strlen(config), at most 256 bytes
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) type not between 0 and 17 (both excluded); config
 *         NULL; length over 256 or not the string's; bad value for ACL_PROF_NTS_METRICS
 * @retval ACL_ERROR_INVALID_PROFILING_CONFIG (100010) bad value for any other setting; type 2;
 *         setting that the chip does not have
 * @note Thread-safe; serialised with the other control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofSetConfig(aclprofConfigType configType, const char *config,
                                              size_t configLength);

/** @} */

/**
 * @name Stamps
 * Events of the program itself, recorded while a capture with ACL_PROF_MSPROFTX runs. A stamp
 * is a handle with a message; it can be marked (a moment), pushed and popped (nested spans of
 * one thread) and used for ranges (spans that may end in another thread), any number of times.
 * There is no limit on the number of stamps. A stamp outlives Stop and Finalize, and is the
 * caller's until aclprofDestroyStamp. Times are nanoseconds of CLOCK_MONOTONIC_RAW in the
 * results, unless the results declare a frequency of the host's counter.
 * @{
 */

/**
 * Makes a stamp with an empty message.
 *
 * @return a stamp for aclprofDestroyStamp; NULL when no capture with ACL_PROF_MSPROFTX runs
 *         (call aclprofStart with ACL_PROF_MSPROFTX first) or memory is short, with the reason
 *         in aclprofGetLastError()
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY void *aclprofCreateStamp(void);

/**
 * Destroys a stamp. NULL, foreign and destroyed stamps are ignored (aclprofGetLastError() tells
 * of the latter two). Later calls with this handle are refused, also once its memory is used for
 * another stamp.
 *
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY void aclprofDestroyStamp(void *stamp);

/**
 * Sets a stamp's message, also while no capture runs.
 *
 * @param stamp of aclprofCreateStamp
 * @param msg text, UTF-8 by preference, any bytes pass; copied. A NUL ends it.
 * @param msgLen bytes of msg that may be read; 0 sets the empty message. A record holds 155
 *        bytes: a longer text is cut there at a character boundary, with success, is counted
 *        as cut, and is kept whole in a dictionary beside the records (64 MiB of such
 *        texts a process).
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) stamp NULL, foreign or destroyed; msg NULL;
 *         ACLPROF_STRICT=1: msgLen 128 or more (the message stays as it was)
 * @note Thread-safe; one stamp's message should be set by one thread at a time.
 */
ACL_FUNC_VISIBILITY aclError aclprofSetStampTraceMessage(void *stamp, const char *msg,
                                                         uint32_t msgLen);

/**
 * Records a moment: now, this thread, the stamp's message.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) stamp NULL, foreign or destroyed
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) no capture with ACL_PROF_MSPROFTX runs
 * @note Thread-safe, lock-free. An event that finds its thread's ring full is dropped and
 *       counted, with 0.
 */
ACL_FUNC_VISIBILITY aclError aclprofMark(void *stamp);

/**
 * Opens a span on this thread's stack; aclprofPop of the same thread ends it. Any depth; the
 * same stamp may be pushed more than once.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) stamp NULL, foreign or destroyed
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) no capture with ACL_PROF_MSPROFTX runs
 * @note Thread-safe, lock-free.
 */
ACL_FUNC_VISIBILITY aclError aclprofPush(void *stamp);

/**
 * Ends and records the span that this thread pushed last.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) this thread has nothing pushed
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) no capture with ACL_PROF_MSPROFTX runs
 * @note Thread-safe, lock-free.
 */
ACL_FUNC_VISIBILITY aclError aclprofPop(void);

/**
 * Opens a range, which aclprofRangeStop ends in any thread. Ranges may overlap freely.
 *
 * @param stamp of aclprofCreateStamp
 * @param rangeId receives the range's id, which once stopped is refused from then on. 0, with
 *        success, where nothing is recorded: during a warm-up, or in a signal handler that
 *        interrupted a stamp call. Untouched on failure.
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) stamp NULL, foreign or destroyed; rangeId NULL
 * @retval ACL_ERROR_BAD_ALLOC (200000) no memory
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) no capture with ACL_PROF_MSPROFTX runs
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);

/**
 * Ends and records a range.
 *
 * @param rangeId of aclprofRangeStart
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) unknown id, or stopped already
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) no capture with ACL_PROF_MSPROFTX runs
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofRangeStop(uint32_t rangeId);

/**
 * Number for a text, to be used in place of the text in records; equal texts have equal numbers.
 * The pair goes into the dictionary of the results.
 *
 * @return the number; UINT64_MAX for NULL and ""
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY uint64_t aclprofStr2Id(const char *message);

/** @} */

/**
 * @name Marks on streams, launches, steps
 * Where Huawei's runtime is not in the process, only the host's side is recorded.
 * @{
 */

/**
 * Records a moment on the host and, by a task on the stream, on the device.
 *
 * @param msg 1 ... 155 bytes; copied
 * @param msgLen strlen(msg)
 * @param stream stream of the runtime, not NULL
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) msg or stream NULL; length out of range or not the
 *         string's
 * @retval ACL_ERROR_PROF_NOT_RUN (100043) no capture with ACL_PROF_MSPROFTX runs
 * @retval ACL_ERROR_GE_FAILURE (500002) the runtime refused the task; nothing is recorded
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream);

/**
 * Opens a kernel launch with its tensors on this thread's stack.
 *
 * @param attr version 1, size and messageType filled in; copied with all it points to
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) attr, tensorInfo or (with tensorNum above 0) tensors
 *         NULL; version, size or messageType unknown
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofRangePushEx(aclprofEventAttributes *attr);

/**
 * Ends the launch that this thread opened last with aclprofRangePushEx and reports its tensors.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) this thread has none open
 * @retval ACL_ERROR_GE_FAILURE (500002) the runtime refused the information
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofRangePop(void);

/**
 * Makes a step, numbered from 1 in the process.
 *
 * @return a step for aclprofDestroyStepInfo; NULL when memory is short. 16 bytes: two flags of
 *         one byte (start, end marked) and at offset 8 the 64-bit number, which some frameworks
 *         overwrite with their own.
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclprofStepInfo *aclprofCreateStepInfo(void);

/**
 * Destroys a step; NULL is ignored.
 *
 * @note Thread-safe, for different steps.
 */
ACL_FUNC_VISIBILITY void aclprofDestroyStepInfo(aclprofStepInfo *stepInfo);

/**
 * Marks an edge of a step on a stream; no time is returned, it is in the results. Needs no
 * aclprofInit. A call that fails may be repeated.
 *
 * @param stepInfo of aclprofCreateStepInfo
 * @param tag edge; each once a step
 * @param stream stream of the runtime
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) stepInfo or stream NULL; tag unknown or marked already
 * @retval ACL_ERROR_GE_FAILURE (500002) the runtime refused the task
 * @note Thread-safe, for different steps.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
                                                     aclrtStream stream);

/** @} */

/**
 * @name Model subscription
 * Records of a loaded model's operators, read from a pipe of the program while it runs.
 * @{
 */

/**
 * Makes the settings of a model subscription.
 *
 * @param timeInfoSwitch 1: times of operators are wanted, 0: not
 * @param aicoreMetrics counters; ACL_AICORE_NONE for none
 * @param fd points to an int with the write end of a pipe; the pointer is kept, and the int must
 *        live until the last subscription ends, which closes the end and stores -1 there
 * @return settings for aclprofDestroySubscribeConfig; NULL when fd is NULL, the switch neither
 *         0 nor 1, the metrics unknown, or memory is short
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclprofSubscribeConfig *aclprofCreateSubscribeConfig(
    int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void *fd);

/**
 * Destroys the settings of a subscription.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) NULL, foreign, or destroyed already
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofDestroySubscribeConfig(
    const aclprofSubscribeConfig *profSubscribeConfig);

/**
 * Has records of a loaded model's operators written to a pipe while it runs; the process needs
 * no aclprofInit and must not have called it.
 *
 * @param modelId a model that is loaded
 * @param profSubscribeConfig of aclprofCreateSubscribeConfig
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) config NULL, foreign or destroyed, or it asks for
 *         neither times nor counters
 * @retval ACL_ERROR_INVALID_PROFILING_CONFIG (100010) the device has a subscription with other
 *         settings
 * @retval ACL_ERROR_INVALID_MODEL_ID (100011) no such model
 * @retval ACL_ERROR_PROF_REPEAT_SUBSCRIBE (148046) subscribed already
 * @retval ACL_ERROR_PROF_API_CONFLICT (148047) aclprofInit is in force
 * @retval ACL_ERROR_PROFILING_FAILURE (500005) the collection could not be begun
 * @note Thread-safe; serialised with the control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofModelSubscribe(
    uint32_t modelId, const aclprofSubscribeConfig *profSubscribeConfig);

/**
 * Ends a subscription.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_MODEL_ID (100011) no such model, or not subscribed
 * @retval ACL_ERROR_PROF_API_CONFLICT (148047) aclprofInit is in force
 * @note Thread-safe; serialised with the control calls.
 */
ACL_FUNC_VISIBILITY aclError aclprofModelUnSubscribe(uint32_t modelId);

/**
 * Size of one record in the pipe.
 *
 * @param opDescSize receives 80 (bytes)
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) NULL
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetOpDescSize(size_t *opDescSize);

/**
 * Number of records in what was read from the pipe.
 *
 * @param opInfo whole records
 * @param opInfoLen bytes, a multiple of the size of a record
 * @param opNumber receives the number
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) NULL; length 0 or no multiple; damaged record
 * @note Thread-safe, as are all readers of records below; they keep no reference to opInfo.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen,
                                             uint32_t *opNumber);

/**
 * Bytes that the type name of an operator needs. Names are known only in the process that has
 * subscribed.
 *
 * @param opInfo,opInfoLen as for aclprofGetOpNum
 * @param index record, from 0
 * @param opTypeLen receives bytes, NUL included
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) as aclprofGetOpNum; index out of range; name unknown
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen,
                                                 uint32_t index, size_t *opTypeLen);

/**
 * Type name of an operator.
 *
 * @param opInfo,opInfoLen,index as for aclprofGetOpTypeLen
 * @param opType receives the name, always NUL-terminated
 * @param opTypeLen bytes of opType; ACL_PROF_MAX_OP_TYPE_LEN is enough
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) as aclprofGetOpTypeLen; opType NULL or too small
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index,
                                              char *opType, size_t opTypeLen);

/**
 * Bytes that the name of an operator needs; as aclprofGetOpTypeLen.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) as aclprofGetOpTypeLen
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen,
                                                 uint32_t index, size_t *opNameLen);

/**
 * Name of an operator; as aclprofGetOpType. ACL_PROF_MAX_OP_NAME_LEN bytes are enough.
 *
 * @retval 0
 * @retval ACL_ERROR_INVALID_PARAM (100000) as aclprofGetOpType
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index,
                                              char *opName, size_t opNameLen);

/**
 * Start of an operator.
 *
 * @return nanoseconds on the device's clock; 0 for a bad argument
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen,
                                               uint32_t index);

/**
 * End of an operator.
 *
 * @return nanoseconds on the device's clock; 0 for a bad argument
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index);

/**
 * Duration of an operator.
 *
 * @return microseconds; 0 for a bad argument
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen,
                                                  uint32_t index);

/**
 * Model of an operator.
 *
 * @return the model's id; 0 for a bad argument
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index);

/**
 * What a record describes.
 *
 * @return the flag; ACL_SUBSCRIBE_NONE for a bad argument
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen,
                                                            uint32_t index);

/**
 * An attribute of a record as text.
 *
 * @param attri ACL_SUBSCRIBE_ATTRI_THREADID, on a record of ACL_SUBSCRIBE_OP_THREAD
 * @return the library's, valid until this thread's next call; NULL when the record has no such
 *         attribute or an argument is bad
 * @note Thread-safe.
 */
ACL_FUNC_VISIBILITY const char *aclprofGetOpAttriValue(const void *opInfo, size_t opInfoLen,
                                                       uint32_t index,
                                                       aclprofSubscribeOpAttri attri);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_PROF_H_ */
