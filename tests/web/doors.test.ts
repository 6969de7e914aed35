/** The dashboard's token, what is asked for by name, bodies and open connections; and who may do what at all. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { isAlive } from "../checks/jobs/job-place.ts";
import { errorsOf, makePlace, type Place, removePlaces, runPawl } from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import {
  type Client,
  enter,
  lines,
  newWorld,
  PAGE,
  play,
  type Running,
  raw,
  startDashboard,
  stopDashboards,
  TO_QUESTION,
  until,
} from "./ground.ts";

let place: Place;
let dashboard: Running;
let client: Client;
let run: string;

beforeAll(async () => {
  place = makePlace();
  play(newWorld(place), TO_QUESTION);
  run = runOf(place.root, "")!.id;
  dashboard = await startDashboard(place);
  client = await enter(dashboard);
});

afterAll(() => {
  stopDashboards();
  removePlaces();
});

const host = () => `127.0.0.1:${dashboard.port}`;
const known = () => ({ host: host(), authorization: client.authorization });
const waits = () => runOf(place.root, "")!.status === "waiting";

describe("bodies", () => {
  const post = (body: string, more = {}) =>
    raw(dashboard.port, lines("POST", "/api/act", { ...PAGE(dashboard.origin), ...known(), ...more }, body));
  test.each(["", "{", "[]", "null", '"x"', '{"action":{}}', '{"project":1}', '{"__proto__":{"action":"abort"}}'])(
    "%s is no action",
    async (body) => {
      expect((await post(body)).status).toBe(400);
      expect(waits()).toBe(true);
    },
  );
  test("64 KB and no more, whether its length is told or not", async () => {
    const large = JSON.stringify({ why: "x".repeat(64 * 1024) });
    expect((await post(large)).status).toBe(413);
    const head = lines("POST", "/api/act", { ...PAGE(dashboard.origin), ...known(), "transfer-encoding": "chunked" });
    const body = JSON.stringify({ project: place.root, run, action: "abort", why: "x".repeat(0x18000) });
    const chunks = body.match(/.{1,32768}/g)!.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
    const heard = await raw(dashboard.port, `${head}${chunks.join("")}0\r\n\r\n`);
    expect(heard.status).toBe(400);
    expect(heard.body).toContain("that is too much");
    expect(waits()).toBe(true);
    expect((await client.get("/api/now")).status).toBe(200);
  });
});

describe("the token", () => {
  test("is what the page says with each request; no cookie is set", async () => {
    const heard = await raw(
      dashboard.port,
      lines(
        "POST",
        "/session",
        { ...PAGE(dashboard.origin), host: host() },
        JSON.stringify({ token: dashboard.token }),
      ),
    );
    expect(heard.status).toBe(200);
    expect(heard.head.toLowerCase()).not.toContain("set-cookie");
    expect(client.authorization).toBe(`Bearer ${dashboard.token}`);
    expect(dashboard.token).toMatch(/^[0-9a-f]{64}$/);
  });

  test("is given out by no GET, and not taken from an address", async () => {
    for (const target of [
      "/session",
      `/session?token=${dashboard.token}`,
      `/?token=${dashboard.token}`,
      `/api/now?token=${dashboard.token}`,
    ]) {
      const heard = await raw(dashboard.port, lines("GET", target, { host: host() }));
      expect(heard.head.toLowerCase()).not.toContain("set-cookie");
      expect(heard.body).not.toContain(dashboard.token);
    }
  });

  test("counts at once after a thousand wrong ones, and between them", async () => {
    const own = await startDashboard(place);
    const session = (token: string) =>
      fetch(`${own.origin}/session`, { method: "POST", headers: PAGE(own.origin), body: JSON.stringify({ token }) });
    const now = (token: string) => fetch(`${own.origin}/api/now`, { headers: { authorization: `Bearer ${token}` } });
    const statuses = new Set<number>();
    for (let n = 0; n < 500; n++) {
      const wrong = n.toString(16).padStart(64, "0");
      for (const heard of await Promise.all([session(wrong), now(wrong)])) statuses.add(heard.status);
      if (n % 100 === 0) expect((await now(own.token)).status).toBe(200);
    }
    expect([...statuses]).toEqual([401]);
    expect((await session(own.token)).status).toBe(200);
    expect((await now(own.token)).status).toBe(200);
    expect(errorsOf(place)).not.toContain("dashboard");
  });

  test("is another one at each start, and that of one start opens no other", async () => {
    const other = await startDashboard(place);
    expect(other.token).not.toBe(dashboard.token);
    const { authorization } = client;
    expect((await fetch(`${other.origin}/api/now`, { headers: { authorization } })).status).toBe(401);
  });
});

describe("what is asked for by name", () => {
  const odd = ["/etc", "/", "..", "", "/nowhere/secret-project", "constructor"];
  test.each(odd)("project %s is none of the known ones", async (project) => {
    const heard = await client.get(`/api/run?${new URLSearchParams({ project, id: run })}`);
    expect(heard.status).toBe(404);
    expect(await heard.text()).toBe('{"ok":false,"message":"there is no such project"}');
  });
  test("a folder below a project is no project", async () => {
    expect((await client.get(`/api/now?project=${place.root}/.pawl`)).status).toBe(404);
    expect((await client.get(`/api/now?project=${place.root}/`)).status).toBe(404);
  });
  test.each(["../x", "a/b", ".", "x".repeat(65), "A", "%2e%2e"])("run %s is no name", async (id) => {
    for (const path of [
      `/api/run?${new URLSearchParams({ project: place.root, id })}`,
      `/api/journal?${new URLSearchParams({ run: id })}`,
    ])
      expect((await client.get(path)).status).toBe(400);
    expect((await client.act({ project: place.root, run: id, action: "abort" })).status).toBe(400);
  });
  test("a run that is not there, and actions that are none", async () => {
    expect((await client.get(`/api/run?${new URLSearchParams({ project: place.root, id: "nobody" })}`)).status).toBe(
      404,
    );
    expect((await client.act({ project: place.root, run: "nobody", action: "abort" })).status).toBe(409);
    for (const action of ["finish", "checked", "accept", "toString", "__proto__", ""])
      expect((await client.act({ project: place.root, run, action })).status).toBe(400);
    expect((await client.act({ project: "/etc", run, action: "abort" })).status).toBe(404);
    expect(waits()).toBe(true);
  });
  test.each(["x", "AAAA", "W10", Buffer.from('["",[["a","../../../etc/passwd",9]]]').toString("base64url")])(
    "cursor %s",
    async (after) => {
      const heard = await client.get(`/api/journal?after=${after}`);
      expect([200, 400]).toContain(heard.status);
      expect(await heard.text()).not.toContain("root:");
    },
  );
});

test("scripts in what agents say stay text", async () => {
  const other = makePlace();
  const evil = '</script><img src=x onerror=alert(1)><script>alert("x")</script>';
  play(newWorld(other), [
    { prompt: "/complete-work review" },
    { stop: `- ${evil}\n\n<promise>REVIEW_ISSUES_FOUND</promise>` },
  ]);
  const own = await startDashboard(other);
  const page = await enter(own);
  const id = runOf(other.root, "")!.id;
  for (const path of ["/api/now", "/api/journal", `/api/run?${new URLSearchParams({ project: other.root, id })}`]) {
    const heard = await page.get(path);
    expect(heard.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(heard.headers.get("x-content-type-options")).toBe("nosniff");
  }
  const [need] = (await page.data("/api/now")).needs;
  expect(need.question.text).toContain("<img src=x onerror=alert(1)>");
});

test("open connections are bounded, and those that close make room", async () => {
  const own = await startDashboard(place);
  const { authorization } = await enter(own);
  const request = `GET /api/live HTTP/1.1\r\nhost: 127.0.0.1:${own.port}\r\nauthorization: ${authorization}\r\n\r\n`;
  const sockets: { socket: Socket; got: string }[] = [];
  const open = async () => {
    const one = { socket: connect(own.port, "127.0.0.1"), got: "" };
    one.socket.on("data", (bytes) => {
      one.got += bytes.toString();
    });
    one.socket.on("error", () => {});
    one.socket.write(request);
    sockets.push(one);
    await until(() => one.got.includes("\r\n\r\n") || undefined);
    return one.got.split("\r\n")[0];
  };
  for (let n = 0; n < 20; n++) expect(await open()).toContain("200");
  expect(await open()).toContain("503");
  expect((await fetch(`${own.origin}/api/now`, { headers: { authorization } })).status).toBe(200);
  sockets[0]!.socket.destroy();
  await until(async () => (await open())?.includes("200"));
  for (const { socket } of sockets) socket.destroy();
});

test("clients that never come to the point keep nobody out", async () => {
  const own = await startDashboard(place);
  const page = await enter(own);
  const half = Array.from({ length: 100 }, () => {
    const socket = connect(own.port, "127.0.0.1", () =>
      socket.write(`GET /api/now HTTP/1.1\r\nhost: 127.0.0.1:${own.port}\r\nx-`),
    );
    socket.on("error", () => {});
    return socket;
  });
  await until(() => half.every((socket) => socket.bytesWritten > 0) || undefined);
  expect((await page.get("/api/now")).status).toBe(200);
  for (const socket of half) socket.destroy();
});

test("Ctrl+C ends it at once, also while pages listen", async () => {
  const own = await startDashboard(place);
  const { authorization } = await enter(own);
  const stream = await fetch(`${own.origin}/api/live`, { headers: { authorization } });
  const reading = stream.text().catch(() => "");
  process.kill(own.pid, "SIGINT");
  await until(
    () => !isAlive(own.pid),
    () => "it goes on",
  );
  await reading;
});

describe("who may do what", () => {
  test("--read-only shows, and refuses every action with a reason", async () => {
    const own = await startDashboard(place, ["--read-only"]);
    const page = await enter(own);
    expect((await page.data("/api/now")).readOnly).toBe(true);
    for (const action of ["answer", "approve", "pause", "resume", "abort", "adopt"]) {
      const said = await page.act({ project: place.root, run, action, choice: "continue" });
      expect(said.status).toBe(403);
      expect(said.message).toBe("nothing can be changed here: it was started with --read-only");
    }
    expect(waits()).toBe(true);
  });

  test("an agent gets a dashboard that only shows", async () => {
    const own = await startDashboard(place, [], { CLAUDECODE: "1" });
    expect(own.err).toContain("read-only: CLAUDECODE in the environment shows that an agent calls this");
    const said = await (await enter(own)).act({ project: place.root, run, action: "abort" });
    expect(said.status).toBe(403);
    expect(waits()).toBe(true);
  });

  test("other addresses are asked for, one at a time, and warned of", async () => {
    for (const host of ["0.0.0.0", "::", "0:0::0", "evil.example", "*"]) {
      const ran = runPawl(place, ["dashboard", "--no-open", "--host", host]);
      expect(ran.code).toBe(2);
    }
    expect(runPawl(place, ["dashboard", "--port", "99999"]).code).toBe(2);
    expect(runPawl(place, ["dashboard", "--port", String(dashboard.port)]).code).toBe(1);
    const outer = Object.values(networkInterfaces())
      .flat()
      .find((one) => one && !one.internal && one.family === "IPv4");
    if (!outer) return;
    const own = await startDashboard(place, ["--host", outer.address]);
    expect(own.err).toContain(`others on the network can reach ${outer.address}`);
    expect((await (await enter(own)).get("/api/now")).status).toBe(200);
  });

  test("by default nobody else's machine reaches it", async () => {
    const outer = Object.values(networkInterfaces())
      .flat()
      .find((one) => one && !one.internal && one.family === "IPv4");
    if (!outer) return;
    await expect(fetch(`http://${outer.address}:${dashboard.port}/`)).rejects.toThrow();
  });
});
