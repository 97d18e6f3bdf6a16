/* reload_point_4.c - see reload_point.h. */
#define POINT 4
#include "reload_point.h"
