/* What was subtracted from the ratings before the fit (--center); the formulas are in maths/center.h. */
#ifndef GCG_STORE_CENTER_KIND_H
#define GCG_STORE_CENTER_KIND_H

/* The numbers are stored in model files. */
typedef enum {
    GCG_CENTER_NONE = 0,
    GCG_CENTER_GLOBAL = 1,
    GCG_CENTER_USER = 2,
    GCG_CENTER_ITEM = 3,
    GCG_CENTER_BOTH = 4
} gcg_center_kind;

#endif
