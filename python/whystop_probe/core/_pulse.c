/* whystop_probe._native.Pulse: what must happen at every step of a training. Between two steps the caches
 * belong to the training, and a line of Python run once a step costs ten times what it costs in a
 * loop: so this part is in C, and calls Python only where something is due. pulse.py is the same in
 * Python; docs/observations.md says what is recorded. */

#include "_native.h"

#include <math.h>
#include <stddef.h>
#include <structmember.h>
#include <time.h>

#define WS_THINNED 8 /* Steps that come faster than the ring is read: one in so many is kept. */
#define WS_THINNED_BELOW_S 0.0003
#define WS_WHOLE_STEPS 4000   /* So many are kept in any case; they fit into the ring. */
#define WS_MEASURED_EVERY 64  /* How often the hooks' own time is measured. */
#define WS_TOKENS_MAX_S 0.25  /* What a quiet stretch may save up: one pass over a large model. */
#define WS_TOKENS_MIN_S -0.01 /* A debt is forgotten beyond this. */

typedef struct {
  PyObject_HEAD PyObject *writer, *first, *latest,
      *iterator; /* The last three are weak references, or NULL. */
  /* The framework's type of tensors, and the descriptors of two of its attributes: looking them up in four types
   * takes longer than the calls. */
  PyObject *unscaled, *tensor_type, *item, *is_cpu;
  PyObject *other_optimizer, *sampling, *not_first, *attend, *take_late, *loop_event, *strange_loss,
      *nonfinite_loss, *look_at_loss, *unstepped, *odd_rate, *look_at_batch, *other_iterator;
  long long step, steps, backwards, zeroed_at, batches, loop_skip, attention_at, data_pending,
      data_due_in, loss_due_at;
  double tokens_s, spent_s, share, always_s, sample_cost_s, wait_s, duration_s, elapsed_s,
      last_end_s, wait_began_s, hooks_s, measured_s;
  double loss_sum, loss_first;
  int losses, losses_known, loss_of_closure, kinds;
  char inside_step, late_waiting;
} Pulse;

static PyObject *text_param_groups, *text_lr, *text_step, *text_backward, *text_data, *text_get;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Now, in the steps whose hooks are measured; else 0. */
static double begin(const Pulse* pulse) {
  return pulse->steps % WS_MEASURED_EVERY == 0 ? now_s() : 0;
}

static void end(Pulse* pulse, double began_s) {
  if (began_s > 0) {
    pulse->hooks_s += now_s() - began_s;
  }
}

static int refers_to(PyObject* reference, PyObject* object) {
  return reference != NULL && PyWeakref_GetObject(reference) == object;
}

/* Called with nothing pending; an object that cannot be referred to weakly is forgotten. */
static void refer(PyObject** reference, PyObject* object) {
  PyObject* old = *reference;
  *reference = object == NULL ? NULL : PyWeakref_NewRef(object, NULL);
  if (*reference == NULL) {
    PyErr_Clear(); /* TypeError: making a reference runs no code of the user's. */
  }
  Py_XDECREF(old);
}

/* Calls a listener, which raises only what belongs to the user: then 0 is returned and the
 * exception passes on. */
static int tell(PyObject* listener, PyObject* first, PyObject* second) {
  if (listener == NULL || listener == Py_None) {
    return 1;
  }
  PyObject* result = PyObject_CallFunctionObjArgs(listener, first, second, NULL);
  if (result == NULL) {
    ws_hide_own_frames();
  }
  Py_XDECREF(result);
  return result != NULL;
}

static int tell_number(PyObject* listener, PyObject* object, double number, int number_first) {
  PyObject* value = PyFloat_FromDouble(number);
  const int fine = value != NULL &&
                   (number_first ? tell(listener, value, object) : tell(listener, object, value));
  Py_XDECREF(value);
  return fine;
}

static PyObject* none_if(int fine) {
  if (!fine) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* argument(PyObject* args, Py_ssize_t index) {
  return PyTuple_Size(args) > index ? PyTuple_GetItem(args, index) : NULL;
}

static PyObject* before_step(PyObject* self, PyObject* args) {
  Pulse* pulse = (Pulse*)self;
  PyObject* optimizer = argument(args, 0);
  const double began_s = begin(pulse);
  int fine = 1;
  pulse->inside_step = 1;
  if (optimizer != NULL && !refers_to(pulse->latest, optimizer)) {
    refer(&pulse->latest, optimizer);
    fine = tell(pulse->other_optimizer, optimizer, NULL);
  }
  end(pulse, began_s);
  if (fine && pulse->step + 1 >= pulse->attention_at && pulse->tokens_s > pulse->sample_cost_s) {
    fine = tell(pulse->sampling, optimizer, NULL);
  }
  return none_if(fine);
}

/* The loss of this step: the sum over its backward passes (accumulation), of a closure the first.
 * 0: not known. */
static int take_loss(Pulse* pulse, double* loss) {
  const int known = pulse->losses_known > 0;
  *loss = pulse->loss_of_closure ? pulse->loss_first : pulse->loss_sum;
  pulse->losses = pulse->losses_known = pulse->loss_of_closure = 0;
  pulse->loss_sum = 0;
  return known;
}

/* The first group's learning rate, where it is a plain number. -1: an exception of the user's. */
static int take_rate(Pulse* pulse, PyObject* optimizer, double* rate) {
  PyObject* groups = PyObject_GetAttr(optimizer, text_param_groups);
  PyObject* group = groups != NULL && PyList_Check(groups) && PyList_Size(groups) > 0
                        ? PyList_GetItem(groups, 0)
                        : NULL;
  PyObject* value = group != NULL && PyDict_Check(group) ? PyDict_GetItem(group, text_lr) : NULL;
  int known = 0;
  if (value != NULL && PyFloat_CheckExact(value)) {
    *rate = PyFloat_AsDouble(value);
    known = 1;
  } else if (value != NULL && pulse->odd_rate != NULL) {
    Py_INCREF(value); /* The listener may change the group. */
    PyObject* number = PyObject_CallFunctionObjArgs(pulse->odd_rate, value, NULL);
    Py_DECREF(value);
    known = number == NULL ? -1 : PyFloat_Check(number);
    *rate = known > 0 ? PyFloat_AsDouble(number) : 0;
    Py_XDECREF(number);
  }
  if (groups == NULL && !ws_forgive()) {
    known = -1;
  }
  Py_XDECREF(groups);
  return known;
}

/* 0: an exception of the user's; the step is on record all the same. */
static int record(Pulse* pulse, PyObject* optimizer) {
  ws_step_record step = {0};
  step.step = ++pulse->step;
  step.duration_s = pulse->duration_s;
  const double tokens = pulse->tokens_s + pulse->share * step.duration_s;
  pulse->tokens_s = tokens > WS_TOKENS_MAX_S   ? WS_TOKENS_MAX_S
                    : tokens < WS_TOKENS_MIN_S ? WS_TOKENS_MIN_S
                                               : tokens;
  pulse->spent_s += pulse->always_s;
  step.present = WS_HAS_WAIT | (pulse->step > 1 ? WS_HAS_DURATION : 0u);
  step.present |= take_loss(pulse, &step.loss) ? WS_HAS_LOSS : 0u;
  const int rate = take_rate(pulse, optimizer, &step.lr);
  step.present |= rate > 0 ? WS_HAS_LR : 0u;
  step.wait_s = pulse->wait_s;
  pulse->wait_s = 0;
  if (step.duration_s < WS_THINNED_BELOW_S && step.step > WS_WHOLE_STEPS &&
      step.step % WS_THINNED != 0) {
    step.flags = WS_STEP_LAST_ONLY;
  }
  if (pulse->writer != NULL) {
    ws_step_all(ws_run_of_writer(pulse->writer), &step);
  }
  return rate >= 0;
}

/* Whether this optimizer counts the steps. -1: an exception of the user's. */
static int counts_steps(Pulse* pulse, PyObject* optimizer) {
  if (refers_to(pulse->first, optimizer)) {
    return 1;
  }
  return tell(pulse->not_first, optimizer, NULL) ? refers_to(pulse->first, optimizer) : -1;
}

/* 0: an exception of the user's. */
static int stepped(Pulse* pulse, PyObject* optimizer) {
  const double now = now_s();
  const int measured = pulse->steps % WS_MEASURED_EVERY == 0;
  pulse->inside_step = 0;
  pulse->duration_s = now - pulse->last_end_s;
  pulse->elapsed_s += pulse->duration_s;
  const int counts = counts_steps(pulse, optimizer);
  int fine = counts > 0 ? record(pulse, optimizer) : counts == 0;
  ++pulse->steps;
  if (measured) {
    pulse->measured_s = pulse->hooks_s + now_s() - now;
    pulse->hooks_s = 0;
  }
  if (fine && pulse->late_waiting) {
    fine = tell(pulse->take_late, NULL, NULL);
  }
  if (fine && pulse->step >= pulse->attention_at) {
    fine = tell_number(pulse->attend, optimizer, now, 0);
  }
  if (fine && pulse->kinds & WS_STEP && --pulse->loop_skip < 0) {
    pulse->loop_skip = 0;
    fine = tell(pulse->loop_event, text_step, NULL);
  }
  pulse->last_end_s = now_s();
  pulse->elapsed_s += pulse->last_end_s - now; /* Who waits for a processor mostly does so here. */
  return fine;
}

static PyObject* after_step(PyObject* self, PyObject* args) {
  PyObject* optimizer = argument(args, 0);
  return none_if(optimizer == NULL || stepped((Pulse*)self, optimizer));
}

/* The tensor whose backward pass begins, as a new reference: the scaler's input where there was
 * one. NULL: no single one. */
static PyObject* take_root(Pulse* pulse, PyObject* tensors) {
  PyObject* root = pulse->unscaled;
  pulse->unscaled = NULL;
  if (root != NULL && root != Py_None) {
    return root;
  }
  Py_XDECREF(root);
  root = tensors;
  if (tensors != NULL && (PyTuple_Check(tensors) || PyList_Check(tensors))) {
    const int is_tuple = PyTuple_Check(tensors);
    const Py_ssize_t count = is_tuple ? PyTuple_Size(tensors) : PyList_Size(tensors);
    root = count != 1 ? NULL : is_tuple ? PyTuple_GetItem(tensors, 0) : PyList_GetItem(tensors, 0);
  }
  Py_XINCREF(root);
  return root;
}

/* What tensor.is_cpu is, without a search for the attribute. */
static PyObject* get_is_cpu(const Pulse* pulse, PyObject* tensor) {
  const descrgetfunc get = (descrgetfunc)PyType_GetSlot(Py_TYPE(pulse->is_cpu), Py_tp_descr_get);
  if (get != NULL) {
    return get(pulse->is_cpu, tensor, pulse->tensor_type);
  }
  PyErr_Clear(); /* Python 3.9 tells the slots of heap types only, and calls the question an error. */
  return PyObject_CallMethodObjArgs(pulse->is_cpu, text_get, tensor, pulse->tensor_type, NULL);
}

/* -1: an exception of the user's. */
static int is_on_host(const Pulse* pulse, PyObject* tensor) {
  if ((PyObject*)Py_TYPE(tensor) != pulse->tensor_type || pulse->is_cpu == NULL ||
      pulse->item == NULL) {
    return 0;
  }
  PyObject* on_host = get_is_cpu(pulse, tensor);
  Py_XDECREF(on_host); /* True and False outlive this. */
  return on_host == NULL && !ws_forgive() ? -1 : on_host == Py_True;
}

/* 0: more than one value; the gradient was given by hand, there is no loss. -1: an exception of the
 * user's. */
static int read_loss(const Pulse* pulse, PyObject* root, double* loss) {
  PyObject* value = PyObject_CallFunctionObjArgs(pulse->item, root, NULL);
  *loss = value == NULL ? 0 : PyFloat_AsDouble(value);
  const int known = value != NULL && !(*loss == -1.0 && PyErr_Occurred() != NULL);
  Py_XDECREF(value);
  return known ? 1 : ws_forgive() ? 0 : -1;
}

static void expect_loss(Pulse* pulse) {
  if (pulse->losses++ == 0) {
    pulse->loss_of_closure = pulse->inside_step;
  }
}

static int add_loss(Pulse* pulse, double loss, PyObject* root) {
  if (pulse->losses_known++ == 0) {
    pulse->loss_first = loss;
  }
  expect_loss(pulse);
  pulse->loss_sum += loss;
  return isfinite(loss) ? 1 : tell_number(pulse->nonfinite_loss, root, loss, 1);
}

static int note_loss(Pulse* pulse, PyObject* root) {
  double loss = 0;
  const int known = read_loss(pulse, root, &loss);
  return known > 0 ? add_loss(pulse, loss, root) : known == 0;
}

static PyObject* before_backward(PyObject* self, PyObject* args) {
  Pulse* pulse = (Pulse*)self;
  ++pulse->backwards;
  if (pulse->kinds & WS_BACKWARD && !tell(pulse->loop_event, text_backward, NULL)) {
    return NULL;
  }
  int fine = 1;
  const double began_s = begin(pulse);
  PyObject* root = take_root(pulse, argument(args, 0));
  if (root != NULL && pulse->loss_due_at > 0 && pulse->backwards >= pulse->loss_due_at) {
    pulse->loss_due_at = 0;
    fine = tell(pulse->look_at_loss, root, NULL);
  }
  if (fine && root != NULL && pulse->steps == 0) {
    fine = tell(pulse->unstepped, root, NULL);
  }
  if (fine && root != NULL) {
    const int on_host = is_on_host(pulse, root);
    fine = on_host < 0 ? 0
           : on_host   ? note_loss(pulse, root)
                       : tell(pulse->strange_loss, root, NULL);
  }
  Py_XDECREF(root);
  end(pulse, began_s);
  return none_if(fine);
}

static PyObject* before_next(PyObject* self, PyObject* args) {
  (void)args;
  ((Pulse*)self)->wait_began_s = now_s();
  Py_RETURN_NONE;
}

static PyObject* after_next(PyObject* self, PyObject* args) {
  Pulse* pulse = (Pulse*)self;
  PyObject *batch = argument(args, 0), *iterator = argument(args, 1);
  const double began_s = begin(pulse);
  pulse->wait_s += now_s() - pulse->wait_began_s;
  ++pulse->batches;
  if (iterator == NULL) {
    return none_if(1);
  }
  if (!refers_to(pulse->iterator, iterator)) {
    if (!tell(pulse->other_iterator, iterator, NULL)) { /* Takes data_pending. */
      return NULL;
    }
    refer(&pulse->iterator, iterator);
    pulse->data_pending = 0;
    pulse->data_due_in = 0;
  }
  const int due = ++pulse->data_pending >= pulse->data_due_in;
  end(pulse, began_s);
  int fine = 1;
  if (due) {
    fine = tell(pulse->look_at_batch, batch, iterator);
  }
  if (fine && pulse->kinds & WS_DATA) {
    fine = tell(pulse->loop_event, text_data, NULL);
  }
  return none_if(fine);
}

/* A loss that is on its way from a device counts as one of the step's, without a value. */
static PyObject* loss_is_late(PyObject* self, PyObject* unused) {
  (void)unused;
  expect_loss((Pulse*)self);
  Py_RETURN_NONE;
}

int ws_pulse_made(PyObject* self, PyObject* stepper, long long steps, const double* loss) {
  Pulse* pulse = (Pulse*)self;
  const double began_s = begin(pulse);
  pulse->step += steps - 1;
  pulse->steps += steps - 1;
  pulse->backwards += steps;
  pulse->batches += steps;
  if (pulse->kinds & WS_BACKWARD && !tell(pulse->loop_event, text_backward, NULL)) {
    return 0;
  }
  if (loss == NULL) {
    expect_loss(pulse);
  } else if (!add_loss(pulse, *loss, Py_None)) {
    return 0;
  }
  end(pulse, began_s);
  return stepped(pulse, stepper);
}

int ws_pulse_late_loss(PyObject* self, long long step, double loss) {
  Pulse* pulse = (Pulse*)self;
  ws_run* run = pulse->writer == NULL ? NULL : ws_run_of_writer(pulse->writer);
  ws_scalar(run, "loss", WS_TRAIN_LOSS, step, loss);
  return isfinite(loss) ? 1 : tell_number(pulse->nonfinite_loss, Py_None, loss, 1);
}

long long ws_pulse_step(PyObject* pulse) { return ((Pulse*)pulse)->step; }

static PyObject* pulse_made(PyObject* self, PyObject* args) {
  PyObject *stepper = NULL, *value = NULL;
  long long steps = 1;
  if (!PyArg_ParseTuple(args, "OO|L", &stepper, &value, &steps)) {
    return NULL;
  }
  const double loss = value == Py_None ? 0 : PyFloat_AsDouble(value);
  if (loss == -1.0 && PyErr_Occurred() != NULL) {
    return NULL;
  }
  return none_if(ws_pulse_made(self, stepper, steps, value == Py_None ? NULL : &loss));
}

static PyObject* pulse_take_loss(PyObject* self, PyObject* unused) {
  (void)unused;
  double loss = 0;
  if (!take_loss((Pulse*)self, &loss)) {
    Py_RETURN_NONE;
  }
  return PyFloat_FromDouble(loss);
}

static PyObject* set_writer(PyObject* self, PyObject* writer) {
  Pulse* pulse = (Pulse*)self;
  Py_INCREF(writer);
  Py_XDECREF(pulse->writer);
  pulse->writer = writer;
  Py_RETURN_NONE;
}

static PyObject* set_first(PyObject* self, PyObject* optimizer) {
  refer(&((Pulse*)self)->first, optimizer);
  Py_RETURN_NONE;
}

static PyObject* get_first(PyObject* self, PyObject* unused) {
  (void)unused;
  PyObject* first = ((Pulse*)self)->first;
  PyObject* optimizer = first == NULL ? Py_None : PyWeakref_GetObject(first);
  Py_INCREF(optimizer);
  return optimizer;
}

/* A forked child: whoever steps next is a stranger. */
static PyObject* forget(PyObject* self, PyObject* unused) {
  (void)unused;
  refer(&((Pulse*)self)->first, NULL);
  refer(&((Pulse*)self)->latest, NULL);
  Py_RETURN_NONE;
}

static PyMethodDef pulse_methods[] = {
    {"before_step", before_step, METH_VARARGS, "The hook ahead of an optimizer's step."},
    {"after_step", after_step, METH_VARARGS, "The hook behind it."},
    {"before_backward", before_backward, METH_VARARGS, "before_backward(tensors, ...)"},
    {"before_next", before_next, METH_VARARGS, "before_next(iterator)"},
    {"after_next", after_next, METH_VARARGS, "after_next(batch, iterator)"},
    {"made", pulse_made, METH_VARARGS, "made(stepper, loss or None, steps=1)"},
    {"loss_is_late", loss_is_late, METH_NOARGS, "A backward pass whose loss is not known yet."},
    {"take_loss", pulse_take_loss, METH_NOARGS, "The loss of this step or None; forgets it."},
    {"set_writer", set_writer, METH_O, "set_writer(writer)"},
    {"set_first", set_first, METH_O, "set_first(optimizer): this one counts the steps."},
    {"first", get_first, METH_NOARGS, "The optimizer that counts the steps, or None."},
    {"forget", forget, METH_NOARGS, "Knows no optimizer any more."},
    {NULL, NULL, 0, NULL}};

#define WS_OBJECT(name) \
  { #name, T_OBJECT, offsetof(Pulse, name), 0, NULL }
#define WS_COUNT(name) \
  { #name, T_LONGLONG, offsetof(Pulse, name), 0, NULL }
#define WS_SECONDS(name) \
  { #name, T_DOUBLE, offsetof(Pulse, name), 0, NULL }
#define WS_FLAG(name) \
  { #name, T_BOOL, offsetof(Pulse, name), 0, NULL }
static PyMemberDef pulse_members[] = {WS_OBJECT(unscaled),
                                      WS_OBJECT(tensor_type),
                                      WS_OBJECT(item),
                                      WS_OBJECT(is_cpu),
                                      WS_OBJECT(other_optimizer),
                                      WS_OBJECT(sampling),
                                      WS_OBJECT(not_first),
                                      WS_OBJECT(attend),
                                      WS_OBJECT(take_late),
                                      WS_OBJECT(loop_event),
                                      WS_OBJECT(strange_loss),
                                      WS_OBJECT(nonfinite_loss),
                                      WS_OBJECT(look_at_loss),
                                      WS_OBJECT(unstepped),
                                      WS_OBJECT(odd_rate),
                                      WS_OBJECT(look_at_batch),
                                      WS_OBJECT(other_iterator),
                                      WS_COUNT(step),
                                      WS_COUNT(steps),
                                      WS_COUNT(backwards),
                                      WS_COUNT(zeroed_at),
                                      WS_COUNT(batches),
                                      WS_COUNT(loop_skip),
                                      WS_COUNT(attention_at),
                                      WS_COUNT(data_pending),
                                      WS_COUNT(data_due_in),
                                      WS_COUNT(loss_due_at),
                                      WS_SECONDS(tokens_s),
                                      WS_SECONDS(spent_s),
                                      WS_SECONDS(share),
                                      WS_SECONDS(always_s),
                                      WS_SECONDS(sample_cost_s),
                                      WS_SECONDS(wait_s),
                                      WS_SECONDS(duration_s),
                                      WS_SECONDS(elapsed_s),
                                      WS_SECONDS(last_end_s),
                                      WS_SECONDS(measured_s),
                                      {"kinds", T_INT, offsetof(Pulse, kinds), 0, NULL},
                                      {"losses", T_INT, offsetof(Pulse, losses), READONLY, NULL},
                                      WS_FLAG(inside_step),
                                      WS_FLAG(late_waiting),
                                      {NULL, 0, 0, 0, NULL}};

static int pulse_init(PyObject* self, PyObject* args, PyObject* keywords) {
  (void)args;
  (void)keywords;
  ((Pulse*)self)->last_end_s = now_s();
  return 0;
}

/* Lives as long as its process: it has no dealloc of its own, and what it refers to goes with the
 * process. */
static PyType_Slot pulse_slots[] = {{Py_tp_methods, pulse_methods},
                                    {Py_tp_members, pulse_members},
                                    {Py_tp_init, pulse_init},
                                    {0, NULL}};
static PyType_Spec pulse_spec = {"whystop_probe._native.Pulse", sizeof(Pulse), 0, Py_TPFLAGS_DEFAULT,
                                 pulse_slots};

int ws_pulse_event(PyObject* self, int kind, PyObject* text) {
  Pulse* pulse = (Pulse*)self;
  if (kind == WS_ZERO_GRAD) {
    pulse->zeroed_at = pulse->backwards;
  }
  return pulse->kinds & kind ? tell(pulse->loop_event, text, NULL) : 1;
}

double ws_pulse_begin(PyObject* pulse) { return begin((Pulse*)pulse); }
void ws_pulse_end(PyObject* pulse, double began_s) { end((Pulse*)pulse, began_s); }

int ws_add_pulse(PyObject* module) {
  PyObject** const texts[] = {&text_param_groups, &text_lr, &text_step, &text_backward, &text_data,
                              &text_get};
  const char* const words[] = {"param_groups", "lr", "step", "backward", "data", "__get__"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
    *texts[i] = PyUnicode_InternFromString(words[i]);
    if (*texts[i] == NULL) {
      return 0;
    }
  }
  PyObject* type = PyType_FromSpec(&pulse_spec);
  return type != NULL && PyModule_AddObject(module, "Pulse", type) == 0;
}
