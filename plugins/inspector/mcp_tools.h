/* mcp_tools.h - the tools of the Model Context Protocol, each a method under another name.
 *
 * Not here: the contracts of the methods, which stand beside the methods.
 */
#ifndef INSPECTOR_MCP_TOOLS_H
#define INSPECTOR_MCP_TOOLS_H

typedef struct mcp_tool_t {
    const char *name, *method, *description;
    const char *schema; /* schema of the tool's arguments, JSON */
} mcp_tool_t;

/* The list of tools, ended by a tool without a name. */
extern const mcp_tool_t mcp_tools[];

#endif
