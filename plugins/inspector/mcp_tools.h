/* mcp_tools.h - the tools of the Model Context Protocol, each a method under another name.
 *
 * What it does not do: the methods' own contracts stand beside them.
 */
#ifndef INSPECTOR_MCP_TOOLS_H
#define INSPECTOR_MCP_TOOLS_H

typedef struct mcp_tool_t {
    const char *name, *method, *description;
    const char *schema; /* of its arguments, JSON */
} mcp_tool_t;

/* Ended by one without a name. */
extern const mcp_tool_t mcp_tools[];

#endif
