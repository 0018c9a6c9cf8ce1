/* whystop_probe._native.Gate, Feed and Feeds: what a framework that trains by itself calls at every
 * batch. feed.py is the same in Python, and says what each is for. */

#include "_native.h"

#include <math.h>
#include <stddef.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD PyObject* listener;
  char open;
} Gate;

static int gate_init(PyObject* self, PyObject* args, PyObject* keywords) {
  (void)keywords;
  PyObject* listener = NULL;
  if (!PyArg_UnpackTuple(args, "Gate", 1, 1, &listener)) {
    return -1;
  }
  Py_INCREF(listener);
  ((Gate*)self)->listener = listener;
  return 0;
}

static PyObject* gate_call(PyObject* self, PyObject* args, PyObject* keywords) {
  Gate* gate = (Gate*)self;
  (void)keywords;
  if (!gate->open || gate->listener == NULL) {
    Py_RETURN_NONE;
  }
  PyObject* result = PyObject_Call(gate->listener, args, NULL);
  if (result == NULL) {
    ws_hide_own_frames();
  }
  return result;
}

static PyMemberDef gate_members[] = {{"open", T_BOOL, offsetof(Gate, open), 0, NULL},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot gate_slots[] = {
    {Py_tp_init, gate_init}, {Py_tp_call, gate_call}, {Py_tp_members, gate_members}, {0, NULL}};
static PyType_Spec gate_spec = {"whystop_probe._native.Gate", sizeof(Gate), 0, Py_TPFLAGS_DEFAULT,
                                gate_slots};

typedef struct {
  PyObject_HEAD PyObject *pulse, *stepper, *pending; /* The last: logs that are no numbers yet. */
  long long batches, planned, last, made, number, size, whole, rest, pending_step, pending_made;
  double weight, sum;
  char late, own, awaits;
} Feed;

static PyObject *text_loss, *feed_type;

static int feed_init(PyObject* self, PyObject* args, PyObject* keywords) {
  Feed* feed = (Feed*)self;
  (void)keywords;
  if (!PyArg_UnpackTuple(args, "Feed", 2, 2, &feed->pulse, &feed->stepper)) {
    feed->pulse = feed->stepper = NULL;
    return -1;
  }
  Py_INCREF(feed->pulse);
  Py_INCREF(feed->stepper);
  feed->last = -1;
  return 0;
}

static void feed_dealloc(PyObject* self) {
  Feed* feed = (Feed*)self;
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(feed->pulse);
  Py_XDECREF(feed->stepper);
  Py_XDECREF(feed->pending);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyObject* feed_begin_epoch(PyObject* self, PyObject* args) {
  Feed* feed = (Feed*)self;
  if (!PyArg_ParseTuple(args, "LLL", &feed->size, &feed->whole, &feed->rest)) {
    return NULL;
  }
  feed->batches = feed->number = 0;
  feed->last = -1;
  feed->weight = feed->sum = 0;
  Py_RETURN_NONE;
}

/* Samples of the first `batches` batches of an epoch; batches where their sizes are not known. A
 * program's own loop may tell any number as its batch, so nothing is counted one by one. */
static double samples_until(const Feed* feed, long long batches) {
  const long long round = feed->whole + (feed->rest > 0);
  if (feed->size <= 0 || round <= 0) {
    return (double)batches;
  }
  const long long rounds = batches / round;
  const double size = (double)feed->size;
  return (double)rounds * ((double)feed->whole * size + (double)feed->rest) +
         (double)(batches % round) * size;
}

static double loss_of_batches(Feed* feed, double mean, long long batches) {
  const double before = samples_until(feed, feed->number);
  feed->number += batches;
  const double weight = samples_until(feed, feed->number) - before;
  const double total = feed->weight + weight;
  const double loss = weight > 0 ? (mean * total - feed->sum) / weight : mean;
  feed->weight = total;
  feed->sum = mean * total;
  return isfinite(loss) && !feed->own ? loss : mean;
}

/* 0: there is none. -1: an exception of the user's. */
static int take_loss(Feed* feed, PyObject* logs, long long batches, double* loss) {
  PyObject* value = PyDict_Check(logs) ? PyDict_GetItem(logs, text_loss) : NULL;
  if (value == NULL) {
    return 0;
  }
  Py_INCREF(value);
  PyObject* number = PyNumber_Float(value);
  Py_DECREF(value);
  if (number == NULL) {
    return ws_forgive() ? 0 : -1;
  }
  *loss = loss_of_batches(feed, PyFloat_AsDouble(number), batches);
  Py_DECREF(number);
  return 1;
}

/* The loss of the batch before: by now it has arrived. 0: an exception of the user's. */
static int take_pending(Feed* feed) {
  PyObject* logs = feed->pending;
  double loss = 0;
  if (logs == NULL) {
    return 1;
  }
  feed->pending = NULL;
  const int known = take_loss(feed, logs, feed->pending_made, &loss);
  Py_DECREF(logs);
  return known > 0 ? ws_pulse_late_loss(feed->pulse, feed->pending_step, loss) : known == 0;
}

static PyObject* result_of(int fine) {
  if (!fine) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* feed_take_pending(PyObject* self, PyObject* unused) {
  (void)unused;
  return result_of(take_pending((Feed*)self));
}

static int feed_batch_end(Feed* feed, PyObject* batch, PyObject* logs) {
  long long number = PyLong_Check(batch) ? PyLong_AsLongLong(batch) : feed->last + 1;
  if (number == -1 && PyErr_Occurred() != NULL && !ws_forgive()) {
    return 0;
  }
  if (feed->planned > feed->last + 1 && number >= feed->planned) {
    number = feed->planned - 1;
  }
  feed->made = number > feed->last ? number - feed->last : 1;
  feed->last = number;
  feed->batches += feed->made;
  if (!feed->late) {
    feed->awaits = 1;
    return 1;
  }
  const int fine = take_pending(feed);
  if (!fine || !ws_pulse_made(feed->pulse, feed->stepper, feed->made, NULL)) {
    return 0;
  }
  PyObject* old = feed->pending;
  Py_INCREF(logs);
  feed->pending = logs;
  feed->pending_step = ws_pulse_step(feed->pulse);
  feed->pending_made = feed->made;
  Py_XDECREF(old);
  return 1;
}

static int feed_logs_read(Feed* feed, PyObject* logs) {
  double loss = 0;
  if (!feed->awaits) {
    return 1;
  }
  feed->awaits = 0;
  const int known = take_loss(feed, logs, feed->made, &loss);
  return known >= 0 && ws_pulse_made(feed->pulse, feed->stepper, feed->made, known ? &loss : NULL);
}

static PyMethodDef feed_methods[] = {
    {"begin_epoch", feed_begin_epoch, METH_VARARGS, "begin_epoch(size, whole, rest)"},
    {"take_pending", feed_take_pending, METH_NOARGS, "Tells the loss that was not there in time."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef feed_members[] = {{"late", T_BOOL, offsetof(Feed, late), 0, NULL},
                                     {"own", T_BOOL, offsetof(Feed, own), 0, NULL},
                                     {"batches", T_LONGLONG, offsetof(Feed, batches), 0, NULL},
                                     {"planned", T_LONGLONG, offsetof(Feed, planned), 0, NULL},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot feed_slots[] = {{Py_tp_init, feed_init},
                                   {Py_tp_dealloc, feed_dealloc},
                                   {Py_tp_methods, feed_methods},
                                   {Py_tp_members, feed_members},
                                   {0, NULL}};
static PyType_Spec feed_spec = {"whystop_probe._native.Feed", sizeof(Feed), 0, Py_TPFLAGS_DEFAULT,
                                feed_slots};

typedef struct {
  PyObject_HEAD PyObject* current;
} Feeds;

/* As a new reference: what the feed calls may end its training. */
static Feed* current_of(PyObject* self) {
  PyObject* current = ((Feeds*)self)->current;
  if (current == NULL || (PyObject*)Py_TYPE(current) != feed_type) {
    return NULL;
  }
  Py_INCREF(current);
  return (Feed*)current;
}

static PyObject* feeds_batch_end(PyObject* self, PyObject* args) {
  Feed* feed = PyTuple_Size(args) >= 3 ? current_of(self) : NULL;
  if (feed == NULL) {
    Py_RETURN_NONE;
  }
  const int fine = feed_batch_end(feed, PyTuple_GetItem(args, 1), PyTuple_GetItem(args, 2));
  Py_DECREF((PyObject*)feed);
  return result_of(fine);
}

static PyObject* feeds_logs_read(PyObject* self, PyObject* args) {
  Feed* feed = PyTuple_Size(args) >= 1 ? current_of(self) : NULL;
  if (feed == NULL) {
    Py_RETURN_NONE;
  }
  const int fine = feed_logs_read(feed, PyTuple_GetItem(args, 0));
  Py_DECREF((PyObject*)feed);
  return result_of(fine);
}

static PyMethodDef feeds_methods[] = {
    {"batch_end", feeds_batch_end, METH_VARARGS, "batch_end(owner, batch, logs)"},
    {"logs_read", feeds_logs_read, METH_VARARGS, "logs_read(logs, ...)"},
    {NULL, NULL, 0, NULL}};
static PyMemberDef feeds_members[] = {{"current", T_OBJECT, offsetof(Feeds, current), 0, NULL},
                                      {NULL, 0, 0, 0, NULL}};
/* Feeds and gates live as long as their process. */
static PyType_Slot feeds_slots[] = {
    {Py_tp_methods, feeds_methods}, {Py_tp_members, feeds_members}, {0, NULL}};
static PyType_Spec feeds_spec = {"whystop_probe._native.Feeds", sizeof(Feeds), 0,
                                 Py_TPFLAGS_DEFAULT, feeds_slots};

int ws_add_feed(PyObject* module) {
  text_loss = PyUnicode_InternFromString("loss");
  feed_type = PyType_FromSpec(&feed_spec);
  PyObject* gate = PyType_FromSpec(&gate_spec);
  PyObject* feeds = PyType_FromSpec(&feeds_spec);
  Py_XINCREF(feed_type);
  return text_loss != NULL && feed_type != NULL && gate != NULL && feeds != NULL &&
         PyModule_AddObject(module, "Feed", feed_type) == 0 &&
         PyModule_AddObject(module, "Gate", gate) == 0 &&
         PyModule_AddObject(module, "Feeds", feeds) == 0;
}
