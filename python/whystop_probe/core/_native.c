/* whystop_probe._native: the ring writer and the tensor statistics of libwhystop for Python, by the
 * limited API of 3.8. docs/wire.md lists the methods. No method raises: a record that cannot be
 * understood is left out. What a signal handler of the user's raises meanwhile passes. */

#include "_native.h"

#include <string.h>

/* A tensor scan shorter than this keeps the GIL: handing it over costs more than the scan. */
#define WS_BYTES_WITH_GIL (64 * 1024)
/* One more than a record holds, so that the library sees that something was left out. */
#define WS_ATTRIBUTES_MAX 65
#define WS_STATS_FIELDS 15

typedef struct {
  PyObject_HEAD ws_run* run;
} Writer;

static ws_run* run_of(PyObject* self) { return ((Writer*)self)->run; }

int ws_forgive(void) {
  if (PyErr_Occurred() != NULL && !PyErr_ExceptionMatches(PyExc_Exception)) {
    return 0;
  }
  PyErr_Clear();
  return 1;
}

/* Whether this entry of a traceback is a frame of the probe's. */
static int is_own(PyObject* entry) {
  PyObject* frame = PyObject_GetAttrString(entry, "tb_frame");
  PyObject* code = frame == NULL ? NULL : PyObject_GetAttrString(frame, "f_code");
  PyObject* name = code == NULL ? NULL : PyObject_GetAttrString(code, "co_filename");
  PyObject* own = PyUnicode_FromString("whystop_probe");
  const int found = name != NULL && own != NULL && PyUnicode_Contains(name, own) == 1;
  Py_XDECREF(own);
  Py_XDECREF(name);
  Py_XDECREF(code);
  Py_XDECREF(frame);
  PyErr_Clear();
  return found;
}

/* A handler of the user's that ran among our frames stays. */
void ws_hide_own_frames(void) {
  PyObject *type, *value, *entry;
  PyErr_Fetch(&type, &value, &entry);
  PyErr_NormalizeException(&type, &value, &entry);
  while (entry != NULL && is_own(entry)) {
    PyObject* next = PyObject_GetAttrString(entry, "tb_next");
    Py_DECREF(entry);
    entry = next;
    if (entry == Py_None) {
      Py_DECREF(entry);
      entry = NULL;
    }
  }
  PyErr_Clear();
  if (value != NULL) {
    PyException_SetTraceback(value, entry != NULL ? entry : Py_None);
  }
  PyErr_Restore(type, value, entry);
}

/* None, whatever went wrong with a record. */
static PyObject* done(void) {
  if (!ws_forgive()) {
    return NULL;
  }
  Py_RETURN_NONE;
}

/* 1: a number was there; 0: None; -1: neither. */
static int take_double(PyObject* from, double* to) {
  *to = 0;
  if (from == Py_None) {
    return 0;
  }
  *to = PyFloat_AsDouble(from);
  return *to == -1.0 && PyErr_Occurred() != NULL ? -1 : 1;
}

static int take_int(PyObject* from, int64_t* to) {
  *to = 0;
  if (from == Py_None) {
    return 0;
  }
  *to = PyLong_AsLongLong(from);
  return *to == -1 && PyErr_Occurred() != NULL ? -1 : 1;
}

/* The UTF-8 of a str, NUL-terminated, as long as `*keep` lives. NULL: not a str that has one. */
static const char* take_text(PyObject* from, PyObject** keep) {
  *keep = PyUnicode_Check(from) ? PyUnicode_AsEncodedString(from, "utf-8", "replace") : NULL;
  return *keep == NULL ? NULL : PyBytes_AsString(*keep);
}

static PyObject* writer_step(PyObject* self, PyObject* args) {
  ws_step_record record = {0};
  if (run_of(self) == NULL || PyTuple_Size(args) != 6) {
    return done();
  }
  double* const fields[4] = {&record.loss, &record.lr, &record.wait_s, &record.duration_s};
  for (int i = 0; i < 4; ++i) {
    const int there = take_double(PyTuple_GetItem(args, i + 1), fields[i]);
    if (there < 0) {
      return done();
    }
    record.present |= (uint32_t)there << i;
  }
  int64_t flags = 0;
  if (take_int(PyTuple_GetItem(args, 0), &record.step) == 1 &&
      take_int(PyTuple_GetItem(args, 5), &flags) == 1) {
    record.flags = (uint32_t)flags;
    ws_step_all(run_of(self), &record);
  }
  return done();
}

static PyObject* writer_scalar(PyObject* self, PyObject* args) {
  PyObject *name = NULL, *role = NULL, *step = NULL, *value = NULL, *keep = NULL;
  int64_t role_number = 0, step_number = 0;
  double number = 0;
  if (run_of(self) == NULL ||
      !PyArg_UnpackTuple(args, "scalar", 4, 4, &name, &role, &step, &value)) {
    return done();
  }
  const int has_step = take_int(step, &step_number);
  const char* text = has_step >= 0 ? take_text(name, &keep) : NULL;
  if (text != NULL && take_int(role, &role_number) == 1 &&
      take_double(value, &number) == 1) {
    ws_scalar(run_of(self), text, (ws_role)role_number, has_step ? step_number : -1, number);
  }
  Py_XDECREF(keep);
  return done();
}

static PyObject* writer_progress(PyObject* self, PyObject* args) {
  ws_progress_record record = {0};
  PyObject *epoch = NULL, *epochs = NULL, *step = NULL, *steps = NULL;
  if (run_of(self) == NULL ||
      !PyArg_UnpackTuple(args, "progress", 4, 4, &epoch, &epochs, &step, &steps)) {
    return done();
  }
  /* One by one: nothing of the user's may run while an exception of his waits. */
  for (int i = 0; i < 4; ++i) {
    const int there = i == 0   ? take_double(epoch, &record.epoch)
                      : i == 1 ? take_double(epochs, &record.epochs_planned)
                      : i == 2 ? take_int(step, &record.step)
                               : take_int(steps, &record.steps_planned);
    if (there < 0) {
      return done();
    }
    record.present |= (uint32_t)there << i;
  }
  ws_progress(run_of(self), &record);
  return done();
}

static PyObject* writer_phase(PyObject* self, PyObject* name) {
  PyObject* keep = NULL;
  const char* text = take_text(name, &keep);
  if (text != NULL) {
    ws_phase(run_of(self), text);
  }
  Py_XDECREF(keep);
  return done();
}

/* A tuple in the order of ws_stats. */
static int take_stats(PyObject* from, ws_stats* to) {
  if (!PyTuple_Check(from) || PyTuple_Size(from) != WS_STATS_FIELDS) {
    return 0;
  }
  uint64_t* const counts[10] = {&to->count,    &to->nan_count, &to->inf_count, &to->zero_count,
                                &to->below[0], &to->below[1],  &to->below[2],  &to->below[3],
                                &to->below[4], &to->below[5]};
  double* const numbers[5] = {&to->min, &to->max, &to->sum, &to->sum_squares, &to->abs_max};
  for (int i = 0; i < 10; ++i) {
    int64_t count = 0;
    if (take_int(PyTuple_GetItem(from, i < 4 ? i : i + 5), &count) != 1) {
      return 0;
    }
    *counts[i] = (uint64_t)count;
  }
  for (int i = 0; i < 5; ++i) {
    if (take_double(PyTuple_GetItem(from, i + 4), numbers[i]) != 1) {
      return 0;
    }
  }
  return 1;
}

static PyObject* writer_stats(PyObject* self, PyObject* args) {
  PyObject *what = NULL, *name = NULL, *step = NULL, *facts = NULL, *keep = NULL;
  int64_t what_number = 0, step_number = 0;
  ws_stats stats;
  if (run_of(self) == NULL ||
      !PyArg_UnpackTuple(args, "stats", 4, 4, &what, &name, &step, &facts)) {
    return done();
  }
  const char* text = take_text(name, &keep);
  if (text != NULL && take_int(what, &what_number) == 1 && take_int(step, &step_number) == 1 &&
      take_stats(facts, &stats)) {
    ws_record_stats(run_of(self), (ws_what)what_number, text, step_number, &stats);
  }
  Py_XDECREF(keep);
  return done();
}

static PyObject* writer_observe(PyObject* self, PyObject* args) {
  PyObject *kind = NULL, *step = NULL, *attributes = NULL, *kind_keep = NULL, *key = NULL,
           *value = NULL;
  PyObject* keep[2 * WS_ATTRIBUTES_MAX] = {NULL};
  ws_attribute list[WS_ATTRIBUTES_MAX] = {{NULL, NULL, 0}};
  size_t count = 0;
  Py_ssize_t position = 0;
  int64_t step_number = 0;
  if (run_of(self) == NULL ||
      !PyArg_UnpackTuple(args, "observe", 3, 3, &kind, &step, &attributes) ||
      !PyDict_Check(attributes)) {
    return done();
  }
  const int has_step = take_int(step, &step_number);
  if (has_step < 0) {
    return done();
  }
  while (count < WS_ATTRIBUTES_MAX && PyDict_Next(attributes, &position, &key, &value)) {
    list[count].key = take_text(key, &keep[2 * count]);
    list[count].text = take_text(value, &keep[2 * count + 1]);
    const int is_known = list[count].text != NULL || take_double(value, &list[count].number) == 1;
    if (!ws_forgive()) {
      ++count;
      break;
    }
    if (list[count].key != NULL && is_known) {
      ++count;
    } else {
      Py_XDECREF(keep[2 * count]);
      Py_XDECREF(keep[2 * count + 1]);
      keep[2 * count] = keep[2 * count + 1] = NULL;
    }
  }
  const int interrupted = PyErr_Occurred() != NULL;
  const char* text = interrupted ? NULL : take_text(kind, &kind_keep);
  if (text != NULL) {
    ws_note(run_of(self), text, has_step ? step_number : -1, list, count);
  }
  for (int i = 0; i < 2 * WS_ATTRIBUTES_MAX; ++i) {
    Py_XDECREF(keep[i]);
  }
  Py_XDECREF(kind_keep);
  return done();
}

static PyObject* writer_set_flags(PyObject* self, PyObject* bits) {
  int64_t number = 0;
  if (take_int(bits, &number) == 1) {
    ws_set_flags(run_of(self), (uint32_t)number);
  }
  return done();
}

static PyObject* writer_set_rank(PyObject* self, PyObject* args) {
  int rank = 0;
  int world_size = 0;
  if (PyArg_ParseTuple(args, "ii", &rank, &world_size)) {
    ws_rank(run_of(self), rank, world_size);
  }
  return done();
}

static PyObject* writer_alive(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyBool_FromLong(ws_alive(run_of(self)));
}

static PyObject* writer_close(PyObject* self, PyObject* unused) {
  (void)unused;
  ws_run* run = run_of(self);
  ((Writer*)self)->run = NULL;
  ws_close(run);
  return done();
}

static void writer_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  /* Not closed in good order: only close() says so. The mapping goes with the process. */
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMethodDef writer_methods[] = {
    {"step", writer_step, METH_VARARGS, "step(step, loss, lr, wait_s, duration_s, flags)"},
    {"scalar", writer_scalar, METH_VARARGS, "scalar(name, role, step, value)"},
    {"progress", writer_progress, METH_VARARGS, "progress(epoch, epochs, step, steps)"},
    {"phase", writer_phase, METH_O, "phase(name)"},
    {"stats", writer_stats, METH_VARARGS, "stats(what, name, step, stats)"},
    {"observe", writer_observe, METH_VARARGS, "observe(kind, step, attributes)"},
    {"set_flags", writer_set_flags, METH_O, "set_flags(bits)"},
    {"set_rank", writer_set_rank, METH_VARARGS, "set_rank(rank, world_size)"},
    {"alive", writer_alive, METH_NOARGS, "alive()"},
    {"close", writer_close, METH_NOARGS, "close()"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot writer_slots[] = {
    {Py_tp_methods, writer_methods}, {Py_tp_dealloc, writer_dealloc}, {0, NULL}};
static PyType_Spec writer_spec = {"whystop_probe._native.Writer", sizeof(Writer), 0, Py_TPFLAGS_DEFAULT,
                                  writer_slots};

/* The type belongs to the module; it is kept here because METH_NOARGS functions of the limited API
 * cannot reach it. */
static PyObject* writer_type = NULL;

ws_run* ws_run_of_writer(PyObject* writer) {
  return (PyObject*)Py_TYPE(writer) == writer_type ? run_of(writer) : NULL;
}

static PyObject* open_writer(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  ws_run* run = ws_open_as(2, "whystop python extension 0.1.0");
  if (run == NULL) {
    Py_RETURN_NONE;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject*)writer_type, Py_tp_alloc);
  PyObject* writer = allocate((PyTypeObject*)writer_type, 0);
  if (writer == NULL) {
    ws_close(run);
    return NULL;
  }
  ((Writer*)writer)->run = run;
  return writer;
}

static size_t bytes_of(const ws_tensor_view* view) {
  return view->count * (view->dtype == WS_F64 ? 8 : view->dtype == WS_F32 ? 4 : 2);
}

static int take_view(PyObject* from, ws_tensor_view* to) {
  int64_t count = 0, dtype = 0;
  if (!PyTuple_Check(from) || PyTuple_Size(from) != 3) {
    PyErr_SetString(PyExc_TypeError, "expected tuples (data_ptr, count, dtype)");
    return 0;
  }
  to->data = PyLong_AsVoidPtr(PyTuple_GetItem(from, 0));
  if (PyErr_Occurred() != NULL || take_int(PyTuple_GetItem(from, 1), &count) != 1 ||
      take_int(PyTuple_GetItem(from, 2), &dtype) != 1 || count < 0 || dtype < WS_F32 ||
      dtype > WS_BF16) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_ValueError, "count or dtype out of range");
    }
    return 0;
  }
  to->count = (size_t)count;
  to->dtype = (ws_dtype)dtype;
  return 1;
}

static PyObject* tuple_of(const ws_stats* s) {
  return Py_BuildValue("(KKKKdddddKKKKKK)", (unsigned long long)s->count,
                       (unsigned long long)s->nan_count, (unsigned long long)s->inf_count,
                       (unsigned long long)s->zero_count, s->min, s->max, s->sum, s->sum_squares,
                       s->abs_max, (unsigned long long)s->below[0], (unsigned long long)s->below[1],
                       (unsigned long long)s->below[2], (unsigned long long)s->below[3],
                       (unsigned long long)s->below[4], (unsigned long long)s->below[5]);
}

static PyObject* list_of(const ws_stats* stats, Py_ssize_t count) {
  PyObject* list = PyList_New(count);
  for (Py_ssize_t i = 0; list != NULL && i < count; ++i) {
    PyObject* facts = tuple_of(&stats[i]);
    if (facts == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, i, facts);
  }
  return list;
}

static PyObject* tensor_stats(PyObject* module, PyObject* tensors) {
  (void)module;
  const Py_ssize_t count = PyList_Check(tensors) ? PyList_Size(tensors) : -1;
  if (count < 0) {
    PyErr_SetString(PyExc_TypeError, "expected a list of (data_ptr, count, dtype)");
    return NULL;
  }
  ws_tensor_view* views = PyMem_Malloc(((size_t)count + 1) * sizeof(*views));
  ws_stats* stats = PyMem_Malloc(((size_t)count + 1) * sizeof(*stats));
  PyObject* result = NULL;
  size_t bytes = 0;
  Py_ssize_t taken = 0;
  if (views == NULL || stats == NULL) {
    PyErr_NoMemory();
  } else {
    while (taken < count && take_view(PyList_GetItem(tensors, taken), &views[taken])) {
      bytes += bytes_of(&views[taken]);
      ++taken;
    }
    if (taken == count && bytes > WS_BYTES_WITH_GIL) {
      Py_BEGIN_ALLOW_THREADS ws_tensor_stats(views, (size_t)count, stats);
      Py_END_ALLOW_THREADS result = list_of(stats, count);
    } else if (taken == count) {
      ws_tensor_stats(views, (size_t)count, stats);
      result = list_of(stats, count);
    }
  }
  PyMem_Free(views);
  PyMem_Free(stats);
  return result;
}

static PyMethodDef module_methods[] = {
    {"watch_signal", ws_watch_signal, METH_VARARGS,
     "watch_signal(writer, number): records who sends it, where nobody handles it."},
    {"open_writer", open_writer, METH_NOARGS, "A writer for this process, or None."},
    {"tensor_stats", tensor_stats, METH_O,
     "Facts about [(data_ptr, count, dtype), ...], a tuple each."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, -1, module_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
  PyObject* module = PyModule_Create(&module_definition);
  if (module == NULL) {
    return NULL;
  }
  writer_type = PyType_FromSpec(&writer_spec);
  if (writer_type == NULL) {
    Py_DECREF(module);
    return NULL;
  }
  Py_INCREF(writer_type);
  if (PyModule_AddObject(module, "Writer", writer_type) != 0) {
    Py_DECREF(writer_type);
    Py_DECREF(module);
    return NULL;
  }
  if (!ws_add_pulse(module) || !ws_add_bell(module) || !ws_add_feed(module)) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
