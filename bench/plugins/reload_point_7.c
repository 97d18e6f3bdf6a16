/* reload_point_7.c - see reload_point.h. */
#define POINT 7
#include "reload_point.h"
