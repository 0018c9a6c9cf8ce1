/* whystop_probe._native.Bell: counts calls of a function, and rings at few of them. */

#include "_native.h"

#include <stddef.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD PyObject *pulse, *name, *due;
  long long count, due_at;
  int kind;
} Bell;

/* Bell(pulse, kind, name of the event, due): due(*arguments) is called at call number `due_at`. */
static int bell_init(PyObject* self, PyObject* args, PyObject* keywords) {
  Bell* bell = (Bell*)self;
  (void)keywords;
  PyObject* kind = NULL;
  if (!PyArg_UnpackTuple(args, "Bell", 4, 4, &bell->pulse, &kind, &bell->name, &bell->due)) {
    bell->pulse = bell->name = bell->due = NULL;
    return -1;
  }
  bell->kind = (int)PyLong_AsLong(kind);
  Py_INCREF(bell->pulse);
  Py_INCREF(bell->name);
  Py_INCREF(bell->due);
  return PyErr_Occurred() == NULL ? 0 : -1;
}

static PyObject* bell_call(PyObject* self, PyObject* args, PyObject* keywords) {
  Bell* bell = (Bell*)self;
  (void)keywords;
  if (bell->pulse == NULL) {
    Py_RETURN_NONE;
  }
  const double began_s = ws_pulse_begin(bell->pulse);
  const int due = ++bell->count == bell->due_at;
  ws_pulse_end(bell->pulse, began_s);
  if (due) {
    PyObject* result = PyObject_Call(bell->due, args, NULL);
    if (result == NULL) {
      ws_hide_own_frames();
      return NULL;
    }
    Py_DECREF(result);
  }
  if (!ws_pulse_event(bell->pulse, bell->kind, bell->name)) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyMemberDef bell_members[] = {{"count", T_LONGLONG, offsetof(Bell, count), 0, NULL},
                                     {"due_at", T_LONGLONG, offsetof(Bell, due_at), 0, NULL},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot bell_slots[] = {
    {Py_tp_init, bell_init}, {Py_tp_call, bell_call}, {Py_tp_members, bell_members}, {0, NULL}};
static PyType_Spec bell_spec = {"whystop_probe._native.Bell", sizeof(Bell), 0, Py_TPFLAGS_DEFAULT,
                                bell_slots};

int ws_add_bell(PyObject* module) {
  PyObject* type = PyType_FromSpec(&bell_spec);
  return type != NULL && PyModule_AddObject(module, "Bell", type) == 0;
}
