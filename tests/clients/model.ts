/** A model that says what a script tells it to, behind the streaming Messages API, on loopback only. */

export type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "tool_use"; name: string; input: Record<string, unknown> };

/** `tokens`: how full the conversation is said to be; a full one makes the client compact it. */
export type Reply = { blocks: Block[]; tokens?: number } | { status: number };

/** Who asks: the main conversation, and that only to say that it waits for a sub-agent in the background; a sub-agent; a compaction for its summary; the screen for a title. */
export type RequestKind = "main" | "waiting" | "agent" | "summary" | "title";

export interface Received {
  kind: RequestKind;
  system: string;
  /** every message as plain text, in order */
  messages: { role: string; text: string }[];
  /** system and messages in one text */
  text: string;
  /** the newest message of the user's side; contexts of hooks may stand behind it */
  asked: string;
  body: Body;
}

export interface Script {
  /** consumed in order by the main conversation */
  turns: Reply[];
  /** what a sub-agent answers, in order */
  agent?: Reply[];
  /** what the main conversation says when a sub-agent has started in the background; by default that it waits */
  launched?: Reply;
  /** when the turns are used up, for the nth time; by default a plain text without meaning */
  otherwise?: (nth: number) => Reply;
}

interface Body {
  model: string;
  stream?: boolean;
  system?: unknown;
  messages: { role: string; content: unknown }[];
  tools?: { name: string; input_schema: unknown }[];
}

export const say = (text: string): Reply => ({ blocks: [{ type: "text", text }] });
export const blocks = (list: Block[]): Reply => ({ blocks: list });
export const fail = (status: number): Reply => ({ status });
export const use = (name: string, input: Record<string, unknown>): Reply => ({
  blocks: [{ type: "tool_use", name, input }],
});
/** The reply after which a client with `SMALL_WINDOW` in its environment compacts by itself. */
export const crowded = (reply: Reply): Reply => ({ ...reply, tokens: 90_000 });
export const SMALL_WINDOW = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" };

const SUMMARY = say("<analysis>short</analysis>\n<summary>THE-SUMMARY of what happened</summary>");
const WAITING = say("I wait for the sub-agent.");
const TITLE = say('{"title": "A title"}');
const NOTHING_LEFT = say("The script has no more turns.");

export type Model = ReturnType<typeof startModel>;

export function startModel(script: Script) {
  const seen: Received[] = [];
  const queues = { main: [...script.turns], agent: [...(script.agent ?? [])] };
  let beyond = 0;

  function next(kind: RequestKind): Reply {
    if (kind === "summary") return SUMMARY;
    if (kind === "title") return TITLE;
    if (kind === "waiting") return script.launched ?? WAITING;
    const planned = queues[kind].shift();
    if (planned) return planned;
    beyond += 1;
    return script.otherwise?.(beyond) ?? NOTHING_LEFT;
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (new URL(request.url).pathname !== "/v1/messages") return new Response(null, { status: 200 });
      const received = readRequest((await request.json()) as Body);
      seen.push(received);
      return respond(next(received.kind), received.body);
    },
  });

  const main = () => seen.filter((one) => one.kind === "main");

  return {
    url: `http://127.0.0.1:${server.port}`,
    received: () => seen,
    /** requests of the main conversation */
    main,
    /** what the nth request of the main conversation told the model that the one before it had not */
    news: (nth: number) => {
      const known = main()[nth - 1]?.messages.length ?? 0;
      const messages = main()[nth]?.messages ?? [];
      const fresh = messages.slice(known < messages.length ? known : 0);
      return fresh.flatMap((one) => (one.role === "assistant" ? [] : [one.text])).join("\n");
    },
    /** turns of the main script that no one asked for yet */
    left: () => queues.main.length,
    stop: () => server.stop(true),
  };
}

function readRequest(body: Body): Received {
  const system = flatten(body.system);
  const messages = body.messages.map((message) => ({ role: message.role, text: flatten(message.content) }));
  const asked = messages.findLast((message) => message.role === "user")?.text ?? "";
  const text = [system, ...messages.map((message) => message.text)].join("\n");
  return { kind: kindOf(body, system, asked), system, messages, text, asked, body };
}

function kindOf(body: Body, system: string, asked: string): RequestKind {
  if (asked.includes("create a detailed summary")) return "summary";
  if (system.includes("cc_is_subagent=true")) return "agent";
  if ((body.tools ?? []).length === 0) return "title";
  return asked.startsWith("Async agent launched") ? "waiting" : "main";
}

/** All text in a piece of a request, whatever its nesting: prompts, tool results, inputs of tools. */
function flatten(piece: unknown): string {
  if (typeof piece === "string") return piece;
  if (Array.isArray(piece)) return piece.map(flatten).join("\n");
  if (piece === null || typeof piece !== "object") return "";
  const block = piece as Record<string, unknown>;
  if (block.type === "text") return String(block.text);
  if (block.type === "tool_result") return flatten(block.content);
  if (block.type === "tool_use") return `${block.name} ${JSON.stringify(block.input)}`;
  return "";
}

let count = 0;
function id(prefix: string): string {
  count += 1;
  return `${prefix}_scripted${String(count).padStart(6, "0")}`;
}

function respond(reply: Reply, body: Body): Response {
  if ("status" in reply) {
    const error = { type: "api_error", message: `scripted failure ${reply.status}` };
    return Response.json({ type: "error", error }, { status: reply.status, headers: { "x-should-retry": "false" } });
  }
  const headers = { "content-type": "text/event-stream", "request-id": id("req") };
  return new Response(streamOf(reply.blocks, body.model, reply.tokens ?? 100), { headers });
}

function streamOf(list: Block[], model: string, tokens: number): string {
  const stop_reason = list.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
  const usage = { input_tokens: tokens, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const head = { id: id("msg"), type: "message", role: "assistant", model, content: [], stop_sequence: null };
  return [
    line("message_start", { message: { ...head, stop_reason: null, usage } }),
    ...list.map(streamBlock),
    line("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } }),
    line("message_stop", {}),
  ].join("");
}

function streamBlock(block: Block, index: number): string {
  const { start, deltas } = pieces(block);
  return [
    line("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => line("content_block_delta", { index, delta })),
    line("content_block_stop", { index }),
  ].join("");
}

function pieces(block: Block): { start: object; deltas: object[] } {
  if (block.type === "text") {
    return { start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: block.text }] };
  }
  if (block.type === "thinking") {
    const said = { type: "thinking_delta", thinking: block.thinking };
    const start = { type: "thinking", thinking: "", signature: "" };
    return { start, deltas: [said, { type: "signature_delta", signature: "scripted" }] };
  }
  const input = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  return { start: { type: "tool_use", id: id("toolu"), name: block.name, input: {} }, deltas: [input] };
}

function line(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
