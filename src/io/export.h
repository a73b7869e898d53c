/* A model as files for other programs: numpy arrays, tables of text, MatrixMarket.
 *
 * An export is several files, PREFIX followed by a suffix of its form. W = U V' + centre, and all of it comes
 * out: factors, ids in row order, the subtracted mean and the biases of users and items. Everything is
 * double: text has 17 significant digits, so it reads back to the last bit. Not the model file: see
 * model_io.h. */
#ifndef GCG_IO_EXPORT_H
#define GCG_IO_EXPORT_H

#include "io/model_io.h"
#include "io/sink.h"

typedef enum { GCG_EXPORT_NPY, GCG_EXPORT_TSV, GCG_EXPORT_MTX } gcg_export_form;
enum { GCG_EXPORT_MOST = 7 /* files of an export */ };

/* How the name of file number part ends (".users.npy"); NULL when the form has fewer. */
const char *gcg_export_suffix(gcg_export_form form, int part);
gcg_status gcg_export_write(const gcg_model *m, gcg_export_form form, int part, gcg_sink sink, gcg_err *err);

#endif
