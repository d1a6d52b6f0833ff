/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sim_runtime.h
 * Work for the simulated NPUs: a small runtime in the manner of the real one. A program launches
 * named kernels with an estimated cost; the simulated device runs them in the order of their
 * stream, takes about that long, and records what a real device would. Nothing is computed.
 *
 * The simulator is the one of the environment's ACLPROF_SIM, shared with the profiler when that
 * uses the driver "sim". All calls may be made by any thread. They return SIMRT_OK or another
 * simrtError.
 */
#ifndef SIM_RUNTIME_H_
#define SIM_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SIMRT_API
#define SIMRT_API __attribute__((visibility("default")))
#endif

typedef enum simrtError {
    SIMRT_OK = 0,
    SIMRT_NO_SIMULATOR, /**< the simulator's options are wrong */
    SIMRT_INVALID,      /**< bad argument */
    SIMRT_NO_MEMORY,
    SIMRT_NO_STREAM /**< no stream id is free */
} simrtError;

typedef enum simrtCore {
    SIMRT_CUBE = 0,
    SIMRT_VECTOR,
    SIMRT_MIX, /**< cube and vector */
    SIMRT_AI_CPU
} simrtCore;

typedef enum simrtDirection {
    SIMRT_HOST_TO_DEVICE = 0,
    SIMRT_DEVICE_TO_HOST,
    SIMRT_DEVICE_TO_DEVICE
} simrtDirection;

typedef struct simrtStream_ *simrtStream; /**< NULL: the calling thread's device, stream 0 */
typedef struct simrtEvent_ *simrtEvent;

typedef struct simrtKernel {
    size_t size;      /**< sizeof(simrtKernel) */
    const char *name; /**< copied; 63 bytes are kept */
    simrtCore core;
    uint32_t blocks;   /**< at least 1 */
    double cost_us;    /**< how long it is to take, 0 to 1e9 */
    uint32_t contexts; /**< parts of an FFTS+ task, at most 64; 0 for an ordinary kernel */
} simrtKernel;

typedef enum simrtTaskKind {
    SIMRT_TASK_KERNEL = 0,
    SIMRT_TASK_MEMCPY,
    SIMRT_TASK_EVENT_RECORD,
    SIMRT_TASK_EVENT_WAIT,
    SIMRT_SET_DEVICE /**< no task: the process has set `device` for the first time */
} simrtTaskKind;

/** What was submitted, for a profiler's host side. */
typedef struct simrtTask {
    size_t size;
    simrtTaskKind kind;
    simrtCore core; /**< of a kernel */
    uint32_t device;
    uint32_t stream;
    uint32_t task; /**< id on the stream; on chips with 32-bit ids on the device */
    uint32_t flip; /**< how often the stream's ids have wrapped */
    uint32_t blocks;
    const char *name; /**< valid during the call */
    uint64_t bytes;   /**< of a copy */
    simrtDirection direction;
    uint64_t begin_ns; /**< CLOCK_MONOTONIC_RAW at the submitting call's begin and end */
    uint64_t end_ns;
    uint32_t model; /**< of simrtSetModel; UINT32_MAX: none */
} simrtTask;

/** Called by the submitting thread after each submission, with no lock held. */
typedef void (*simrtHook)(void *user, const simrtTask *task);

SIMRT_API simrtError simrtGetDeviceCount(uint32_t *count);
/** The calling thread's device; 0 to begin with. */
SIMRT_API simrtError simrtSetDevice(uint32_t device);
SIMRT_API simrtError simrtGetDevice(uint32_t *device);

/** What the calling thread submits from now on belongs to this model; UINT32_MAX, as to begin with:
 * to none. Model subscriptions go by it. */
SIMRT_API simrtError simrtSetModel(uint32_t model);

/** On the calling thread's device. */
SIMRT_API simrtError simrtCreateStream(simrtStream *stream);
/** Does not wait for the stream's work. */
SIMRT_API simrtError simrtDestroyStream(simrtStream stream);
SIMRT_API simrtError simrtGetStreamId(simrtStream stream, uint32_t *id);

/** @param taskId may be NULL */
SIMRT_API simrtError simrtLaunchKernel(simrtStream stream, const simrtKernel *kernel,
                                       uint32_t *taskId);
/** Takes as long as the bytes do at 20 GB/s. */
SIMRT_API simrtError simrtMemcpyAsync(simrtStream stream, uint64_t bytes, simrtDirection direction,
                                      uint32_t *taskId);

SIMRT_API simrtError simrtCreateEvent(simrtEvent *event);
SIMRT_API simrtError simrtDestroyEvent(simrtEvent event);
SIMRT_API simrtError simrtRecordEvent(simrtEvent event, simrtStream stream);
/** What is submitted to the stream afterwards waits for the event's last record. */
SIMRT_API simrtError simrtStreamWaitEvent(simrtStream stream, simrtEvent event);
SIMRT_API simrtError simrtSynchronizeEvent(simrtEvent event);
/** Device time between two recorded events. */
SIMRT_API simrtError simrtEventElapsed(simrtEvent begin, simrtEvent end, double *us);

/** Wait until the work submitted so far is done. */
SIMRT_API simrtError simrtSynchronizeStream(simrtStream stream);
SIMRT_API simrtError simrtSynchronizeDevice(void);

/** Has the stream record a key point when it comes to it, as those of steps (tags 0 and 1) and marks
 * (11, and 12 for the ends of a range). SIMRT_INVALID: the stream is not of this runtime. */
SIMRT_API simrtError simrtRecordPoint(simrtStream stream, uint64_t index, uint64_t model,
                                      uint16_t tag);

/** One hook for the process; NULL takes it away. A submission that runs may still call the old.
 * Devices that were set before are told at once. */
SIMRT_API void simrtSetHook(simrtHook hook, void *user);
/** The same for the profiler library, which is told before the hook above; not for programs. */
SIMRT_API void simrtSetProfilerHook(simrtHook hook, void *user);

#ifdef __cplusplus
}
#endif
#endif
