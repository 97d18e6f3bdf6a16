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
for (const name of ["list_worlds", "list_types", "list_components", "list_systems", "list_plugins", "list_reloads", "query", "entity",
    "get", "set", "pause", "run", "step", "history", "go", "try", "keep", "reload"])
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

/* Stop, step, go back and go on. */
const step = async () => (await call("list_worlds")).structuredContent.result[0].step;
await call("pause");
const before = await step();
await call("step", { steps: 5 });
for (let i = 0; i < 500 && await step() < before + 5; i++)
    await new Promise((done) => setTimeout(done, 10));
assert.equal(await step(), before + 5);
await call("go", { step: before });
assert.equal(await step(), before);
assert.ok((await call("history")).structuredContent.last >= before + 5);

/* A change of a value is tried beside the host, told, and kept or not. */
const tried = await call("try", { values: [{ path, value: 2 }], steps: 100 });
assert.ok(!tried.isError, JSON.stringify(tried.content));
assert.equal(tried.structuredContent.steps, 100);
assert.ok(tried.structuredContent.differences.some((each) => JSON.stringify(each).includes("mass")), JSON.stringify(tried.structuredContent));
assert.equal((await call("get", { path })).structuredContent.value, 1);
await call("keep");
assert.equal((await call("get", { path })).structuredContent.value, 2);
await call("set", { path, value: 1 });

/* Code likewise: the present file of a plugin is tried, and comes in. */
const again = await call("try", { plugins: ["gravity"], steps: 50 });
assert.ok(!again.isError, JSON.stringify(again.content));
assert.deepEqual(again.structuredContent.differences, []);
const reloaded = await call("reload", { plugins: ["gravity"] });
assert.ok(!reloaded.isError, JSON.stringify(reloaded.content));
assert.ok((await call("list_reloads")).structuredContent.result[0].text.includes("gravity"));
const refused = await call("reload", { plugins: ["gravitty"] });
assert.ok(refused.isError && refused.content[0].text.includes("gravity"), "a misspelt plugin is not explained");
await call("run");

const wrong = await call("get", { path: "main/sun.body.masss" });
assert.ok(wrong.isError && wrong.content[0].text.includes("mass"), "a wrong path is not explained");
await assert.rejects(call("no_such_tool"), /no_such_tool/);
await client.close();
console.log(`mcp: ${tools.length} tools`);
