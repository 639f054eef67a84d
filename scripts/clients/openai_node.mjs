// `openai` for Node, unmodified, against `segue serve`. Arguments: the URL of the daemon, the folder of node_modules.
import { createRequire } from "node:module";
const require = createRequire(process.argv[3] + "/");
const OpenAI = require("openai").default;

const url = process.argv[2];
const client = new OpenAI({ baseURL: url + "/v1", apiKey: "none", maxRetries: 0, timeout: 60_000 });

function check(name, condition, more) {
  if (!condition) {
    console.error(`FAILED ${name}: ${JSON.stringify(more)}`);
    process.exit(1);
  }
  console.log(`    ok  ${name}`);
}

async function told(scope) {
  const answer = await fetch(`${url}/api/v1/scopes/${encodeURIComponent(scope)}/sessions/1/messages?limit=500`);
  return (await answer.json()).items.map((message) => [message.role, message.text]);
}

const user = (content) => [{ role: "user", content }];
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

// Chat, streaming, tools.
const said = await client.chat.completions.create({ model: "main", user: "ann", messages: user("say Hello.") });
check("chat", said.choices[0].message.content === "Hello.", said);
let text = "";
for await (const piece of await client.chat.completions.create({ model: "main", user: "ben", stream: true, messages: user("say one two") })) {
  text += piece.choices[0]?.delta?.content ?? "";
}
check("chat streamed", text === "one two", text);
const runner = client.chat.completions.runTools({
  model: "main", user: "cy", messages: user('use weather {"city": "Lisbon"}'),
  tools: [{ type: "function", function: { name: "weather", parameters, parse: JSON.parse, description: "Weather", function: ({ city }) => `sunny in ${city}` } }],
});
check("runTools", (await runner.finalContent()) === "The tool said: sunny in Lisbon", runner.messages);
const roles = (await told("cy")).map(([role]) => role).join();
check("call and result stored once", roles === "user,assistant,tool,assistant", roles);

// Responses.
const first = await client.responses.create({ model: "main", user: "dan", input: "say first" });
check("response", first.output_text === "first", first);
const second = await client.responses.create({ model: "main", previous_response_id: first.id, input: "say second" });
check("previous_response_id", second.output_text === "second", second);
const stream = client.responses.stream({ model: "main", previous_response_id: second.id, input: "say third time" });
const kinds = [];
for await (const event of stream) kinds.push(event.type);
check("response streamed", (await stream.finalResponse()).output_text === "third time", kinds);
check("events in order", kinds[0] === "response.created" && kinds.at(-1) === "response.completed", kinds);
const lines = (await told("dan")).map(([, line]) => line).join("|");
check("one session", lines === "say first|first|say second|second|say third time|third time", lines);
check("retrieved", (await client.responses.retrieve(second.id)).output_text === "second");
const tool = { type: "function", name: "weather", parameters, strict: false };
const asked = await client.responses.create({ model: "main", user: "eve", tools: [tool], input: 'use weather {"city": "Oslo"}' });
const call = asked.output.find((item) => item.type === "function_call");
const output = [{ type: "function_call_output", call_id: call.call_id, output: "snow" }];
const answered = await client.responses.create({ model: "main", previous_response_id: asked.id, tools: [tool], input: output });
check("tool", answered.output_text === "The tool said: snow", answered);

// Conversations and items.
const made = await client.conversations.create({ items: [{ type: "message", role: "user", content: "hello" }] });
const inside = await client.responses.create({ model: "main", conversation: made.id, input: "say inside" });
check("response in a conversation", inside.output_text === "inside", inside);
const items = [];
for await (const item of client.conversations.items.list(made.id, { order: "asc", limit: 2 })) items.push(item.content[0].text);
check("items", items.join("|") === "hello|say inside|inside", items);
await client.conversations.delete(made.id);
const gone = await client.conversations.retrieve(made.id).then(() => 200, (error) => error.status);
check("deleted", gone === 404, gone);
const models = [];
for await (const model of client.models.list()) models.push(model.id);
check("models", models.join() === "main,native", models);
