/* table_refer.h - the table bp_refer, which is found by its name. */
#ifndef HOST_ENGINE_TABLE_REFER_H
#define HOST_ENGINE_TABLE_REFER_H

#include <bp_refer.h>

extern const bp_refer_api host_refer_table;

#endif
