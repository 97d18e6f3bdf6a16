/* mcp_tools.c - the table of tools (mcp_tools.h). */
#include "mcp_tools.h"

#include <stddef.h>

#define WORLD "\"world\":{\"type\":\"string\",\"description\":\"a world's name; the first one where it is left out\"}"
#define PATH \
    "\"path\":{\"type\":\"string\",\"description\":\"world/entity.component.property, like main/earth.body.mass\"}"

const mcp_tool_t mcp_tools[] = {
    {"list_worlds", "backplane.worlds", "The worlds with their clocks.", "{\"type\":\"object\",\"properties\":{}}"},
    {"list_types", "backplane.types", "The component types with their fields: type, unit, range, default, help.",
     "{\"type\":\"object\",\"properties\":{}}"},
    {"list_components", "backplane.components",
     "The components that entities of a world have, with their names and numbers.",
     "{\"type\":\"object\",\"properties\":{" WORLD "}}"},
    {"query", "backplane.query",
     "Entities that satisfy a condition, like `body.mass > 2 and not mesh` or `name.name ~ \"moon\"`, with the values "
     "asked for.",
     "{\"type\":\"object\",\"properties\":{" WORLD
     ",\"where\":{\"type\":\"string\"},\"name\":{\"type\":\"string\",\"description\":"
     "\"a part of the entity's name\"},\"values\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":"
     "\"properties to show, like "
     "body.position.x\"},\"from\":{\"type\":\"integer\",\"minimum\":0},\"count\":{\"type\":\"integer\","
     "\"minimum\":1,\"maximum\":1000}}}"},
    {"entity", "backplane.entity", "An entity with all its components and values.",
     "{\"type\":\"object\",\"properties\":{" WORLD
     ",\"entity\":{\"description\":\"a name, #index:generation, or a number\"}},"
     "\"required\":[\"entity\"]}"},
    {"get", "backplane.get", "A property of an entity.",
     "{\"type\":\"object\",\"properties\":{" PATH "},\"required\":[\"path\"]}"},
    {"set", "backplane.set", "Sets a property of an entity. The value is JSON, or the text that the console takes.",
     "{\"type\":\"object\",\"properties\":{" PATH ",\"value\":{}},\"required\":[\"path\",\"value\"]}"},
    {"list_systems", "backplane.systems",
     "The units of a world's step in their order, with what they cost, read and write.",
     "{\"type\":\"object\",\"properties\":{" WORLD "}}"},
    {"list_plugins", "backplane.plugins", "The plugins with what they bring, their options, and how they crashed.",
     "{\"type\":\"object\",\"properties\":{}}"},
    {"list_reloads", "backplane.reloads",
     "The last reloads, the latest first: what became of each field, or why a version was refused or taken back.",
     "{\"type\":\"object\",\"properties\":{}}"},
    {"list_ranks", "backplane.ranks",
     "What each rank has of a world that several processes share: entities, copies, bytes sent, its part of space.",
     "{\"type\":\"object\",\"properties\":{" WORLD "}}"},
    {"pause", "backplane.pause", "Stops a world.", "{\"type\":\"object\",\"properties\":{" WORLD "}}"},
    {"run", "backplane.run", "Lets a stopped world go on.", "{\"type\":\"object\",\"properties\":{" WORLD "}}"},
    {"step", "backplane.step", "Stops a world and has it take some steps.",
     "{\"type\":\"object\",\"properties\":{" WORLD ",\"steps\":{\"type\":\"integer\",\"minimum\":1}}}"},
    {"history", "backplane.history", "The steps that the host remembers, and where it is among them.",
     "{\"type\":\"object\",\"properties\":{}}"},
    {"go", "backplane.go", "Goes to a step that the host remembers, back or forth.",
     "{\"type\":\"object\",\"properties\":{\"step\":{\"type\":\"integer\",\"minimum\":0}},"
     "\"required\":[\"step\"]}"},
    {"try", "backplane.try",
     "What a change would lead to: a clone of the host takes some steps with the change and without, and the fields "
     "that differ are told. The host itself is not changed; `keep` makes the change.",
     "{\"type\":\"object\",\"properties\":{\"values\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
     "\"properties\":{" PATH ",\"value\":{}},\"required\":[\"path\",\"value\"]}},"
     "\"plugins\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
     "\"description\":\"names of plugins whose present files are tried in place of what is at work\"},"
     "\"steps\":{\"type\":\"integer\",\"minimum\":0}}}"},
    {"keep", "backplane.keep", "Makes the change that was tried last.", "{\"type\":\"object\",\"properties\":{}}"},
    {"reload", "backplane.reload",
     "Puts the present files of plugins in the place of the versions at work; worlds are carried over, or nothing "
     "changes.",
     "{\"type\":\"object\",\"properties\":{\"plugins\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
     "\"required\":[\"plugins\"]}"},
    {NULL, NULL, NULL, NULL},
};
