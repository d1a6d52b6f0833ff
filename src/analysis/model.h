/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in a capture, joined from host and device records: calls, device tasks with the
 * operators and counters that belong to them. Times are wall clock ns since 1970.
 *
 * The lists are bulk arrays (bulk.h): a capture may be larger than memory.
 * Device tasks are read from the records of the chip's generation (device_layout.h).
 */
#ifndef AP_ANALYSIS_MODEL_H_
#define AP_ANALYSIS_MODEL_H_

#include <stdbool.h>
#include <stdint.h>

#include "reader/device_view.h"
#include "reader/reader.h"

#define AP_MODEL_DEVICES 64u
#define AP_MODEL_COUNTERS 10u
#define AP_NONE UINT32_MAX

/* A call of one of the host's layers. */
typedef struct ap__api_call {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t item; /* id of a text, or a number of the layer's own */
    uint32_t type;
    uint32_t tid;
    uint16_t level;
} ap__api_call;

/* What the graph engine says of an operator that it launches. */
typedef struct ap__node {
    uint64_t time_ns;
    uint64_t name; /* ids of texts */
    uint64_t op_type;
    uint64_t hf32; /* 0: not told */
    uint32_t tid;
    uint32_t task_type;
    uint32_t blocks;
    uint32_t tensor_from; /* in ap__model.tensors */
    uint32_t tensor_count;
} ap__node;

typedef struct ap__tensor {
    uint32_t kind; /* 0 input, 1 output */
    uint32_t format;
    uint32_t data_type;
    uint32_t shape[8]; /* ends with the first 0 */
} ap__tensor;

/* What the runtime says of a task that it submits. */
typedef struct ap__track {
    uint64_t time_ns;
    uint64_t kernel; /* id of its name, 0: none */
    uint64_t type;
    uint32_t tid;
    uint32_t task; /* with the batch above, where the chip has long ids */
    uint16_t device;
    uint16_t stream;
    uint32_t next; /* of the same device, stream and task */
    uint32_t node; /* AP_NONE: no operator */
    uint32_t model;
} ap__track;

typedef struct ap__counters {
    bool vector; /* of the vector cores, else of the cube cores */
    uint64_t cycles;
    uint64_t ns; /* that the cores took, where the chip tells; else 0 */
    uint64_t values[AP_MODEL_COUNTERS];
} ap__counters;

/* The AI core frequency from a moment on. */
typedef struct ap__frequency {
    uint64_t cycles;
    uint32_t device; /* index in ap__model.devices */
    uint32_t mhz;
} ap__frequency;

typedef struct ap__task {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t start_cycles;
    uint64_t end_cycles;
    uint32_t device; /* index in ap__model.devices */
    uint32_t kind;   /* AP_SQE_*; of a part: its type */
    uint16_t stream;
    uint32_t task;     /* 32 bits on chips with long ids, else 16 */
    uint32_t track;    /* AP_NONE: the runtime has told nothing */
    uint32_t counters; /* AP_NONE: none */
    uint32_t part;     /* of an FFTS+ task: its number; AP_NONE: the whole task */
} ap__task;

/* What the communication library says of an operator. */
typedef struct ap__comm_info {
    uint64_t time_ns;
    uint64_t group; /* ids of texts */
    uint64_t algorithm;
    uint64_t count;
    uint32_t tid;
    uint8_t data_type;
    uint8_t flags; /* bit 0 relay, 1 retry */
} ap__comm_info;

typedef struct ap__comm_op {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t name;   /* ids of texts */
    uint64_t group;  /* 0: not told */
    uint32_t device; /* index in ap__model.devices */
    uint32_t node;
    uint32_t track;  /* of its first task */
    uint32_t number; /* among those of its name and group */
    uint64_t algorithm; /* id of a text; 0: not told */
    uint64_t count;
    uint8_t data_type;
    uint8_t flags; /* as ap__comm_info's */
} ap__comm_op;

/* What the task scheduler marks: the device's side of a stamp, the begin or end of an iteration. */
typedef struct ap__ts_mark {
    uint64_t ns;
    uint64_t index; /* mark id, or number of the iteration */
    uint64_t model;
    uint32_t device; /* index in ap__model.devices */
    uint16_t stream;
    uint16_t task;
    uint16_t tag; /* AP_TS_* */
} ap__ts_mark;

#define AP_TS_MODEL_START 0u
#define AP_TS_MODEL_END 1u
#define AP_TS_TX_MARK 11u
#define AP_TS_TX_MARK_EX 12u

typedef struct ap__model {
    ap__reader *reader;
    ap__device_view devices[AP_MODEL_DEVICES];
    uint32_t device_count;
    bool simulated;
    ap__api_call *calls; /* by start */
    uint32_t call_count;
    ap__node *nodes; /* by thread and time */
    uint32_t node_count;
    ap__tensor *tensors;
    uint32_t tensor_count;
    ap__track *tracks; /* by time */
    uint32_t track_count;
    ap__task *tasks; /* by start */
    uint32_t task_count;
    ap__counters *counters;
    uint32_t counters_count;
    ap__frequency *frequencies; /* by device and time */
    uint32_t frequency_count;
    ap__comm_info *comm_infos; /* by thread and time */
    uint32_t comm_info_count;
    ap__comm_op *comm_ops; /* by device and start */
    uint32_t comm_op_count;
    ap__ts_mark *ts_marks; /* by tag, index, device and time */
    uint32_t ts_mark_count;
    bool many_streams; /* the program has told of more than 2048 */
    uint64_t unfinished_tasks; /* a start without an end, or the other way round */
    int64_t only_device;       /* its number; -1: all */
    uint64_t from_ns;          /* the part of the capture that is shown, wall clock */
    uint64_t to_ns;
} ap__model;

/* What is wanted of a capture. */
typedef struct ap__choice {
    int64_t device;    /* -1: all */
    int64_t iteration; /* its number; -1: all of the capture */
    int64_t model;     /* whose iteration; UINT32_MAX: any model's */
    uint32_t count;    /* iterations, from that on */
} ap__choice;

/* Reads everything but the stamps, which are the reader's. 0 or ENOMEM; what is missing or damaged
 * makes a note of the reader. The reader must outlive the model. */
int ap__model_load(ap__model *model, ap__reader *reader);
/* A part: the tasks that began within iterations, and the calls and stamps that met the time from
 * their submission to the iterations' end. The same, or ENOENT: there is no such part. NULL: all. */
int ap__model_load_part(ap__model *model, ap__reader *reader, const ap__choice *choice);
/* The next stamp within that part (ap__reader_next_stamp). */
bool ap__model_next_stamp(const ap__model *model, ap__stamp_record *out);
/* choice.c: leaves of the model what lies in the iterations. 0, ENOENT or ENOMEM. */
int ap__model_cut(ap__model *model, const ap__choice *choice);
void ap__model_free(ap__model *model);

/* The operator of a task; NULL: none. */
const ap__node *ap__task_node(const ap__model *model, const ap__task *task);
/* Name of the kernel, else of the operator, else NULL. */
const char *ap__task_name(const ap__model *model, const ap__task *task);
/* "AI_CORE", … of the operator, else what the runtime calls the task, else what the device says. */
const char *ap__task_type(const ap__model *model, const ap__task *task);
/* MHz of the cores at the task's start. */
uint32_t ap__task_mhz(const ap__model *model, const ap__task *task, bool vector);
/* "acl", "model", "node", "communication", "runtime", or another word; never NULL. */
const char *ap__level_name(uint32_t level);
/* Name of a call; a number in `buffer` (of 16) when it has none. */
const char *ap__call_name(const ap__model *model, const ap__api_call *call, char *buffer);

/* "hcom_allReduce__483_0_1": name, group, number. */
void ap__comm_op_name(const ap__model *model, const ap__comm_op *op, char *buffer, size_t size);
/* The first mark with the tag and index; *count of them. NULL: none. */
const ap__ts_mark *ap__ts_marks_of(const ap__model *model, uint32_t tag, uint64_t index,
                                   uint32_t *count);

/* The end of the iteration that begins with the mark; NULL: none, or it is no begin. */
const ap__ts_mark *ap__ts_step_end(const ap__model *model, const ap__ts_mark *start);

/* host.c, device.c, ts_marks.c, comm.c: the parts of ap__model_load, in this order */
int ap__model_load_host(ap__model *model);
int ap__model_load_devices(ap__model *model);
int ap__model_load_ts_marks(ap__model *model);
int ap__model_load_comm(ap__model *model);

/* Room for one more element in a growing array of malloc's; NULL without memory. What may become as
 * long as the capture is better pushed with ap__bulk_push (bulk.h). */
void *ap__model_push(void **array, uint32_t *count, size_t element);

#endif
