/* mcp.mjs URL - the inspector as the official client of the Model Context Protocol sees it. Prints what went wrong, and ends with 1 then. */
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2] + "/mcp")));
assert.equal(client.getServerVersion().name, "backplane");
await client.ping();

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
for (const name of ["list_worlds", "query", "get", "set", "entity"])
    assert.ok(names.includes(name), `there is no tool ${name}`);
for (const tool of tools)
    assert.equal(tool.inputSchema.type, "object", `${tool.name} has no schema`);

const call = async (name, args = {}) => (await client.callTool({ name, arguments: args }));
const worlds = await call("list_worlds");
assert.equal(worlds.structuredContent.result[0].name, "main");
assert.deepEqual(JSON.parse(worlds.content[0].text), worlds.structuredContent.result);

const found = await call("query", { where: 'name.name = "earth"', values: ["body.mass"] });
assert.equal(found.structuredContent.count, 1);
assert.equal(found.structuredContent.rows[0].name, "earth");

const path = "main/sun.body.mass";
await call("set", { path, value: 0.5 });
assert.equal((await call("get", { path })).structuredContent.value, 0.5);
await call("set", { path, value: "1" });
assert.equal((await call("get", { path })).structuredContent.value, 1);

const wrong = await call("get", { path: "main/sun.body.masss" });
assert.ok(wrong.isError && wrong.content[0].text.includes("mass"), "a wrong path is not explained");
await assert.rejects(call("no_such_tool"), /no_such_tool/);
await client.close();
console.log(`mcp: ${tools.length} tools`);
