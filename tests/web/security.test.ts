/** The dashboard under attack, over real sockets: what a stranger's page, a guesser or a crooked client could send. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePlace, type Place, removePlaces } from "../harness/harness.ts";
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
/** Every name that a cookie of ours has or could have had. */
const cookies = () =>
  [`pawl-${dashboard.port}`, "pawl", "token", "pawl-token", "authorization"]
    .map((name) => `${name}=${dashboard.token}`)
    .join("; ");
const answer = () => JSON.stringify({ project: place.root, run, action: "answer", choice: "continue" });
const waits = () => runOf(place.root, "")!.status === "waiting";

test("the page itself reads data and is given its files", async () => {
  expect((await client.get("/api/now")).status).toBe(200);
  const page = await raw(dashboard.port, lines("GET", "/", { host: host() }));
  expect(page.status).toBe(200);
  expect(page.head).toContain("text/html");
  for (const name of [`localhost:${dashboard.port}`, `[::1]:${dashboard.port}`])
    expect((await raw(dashboard.port, lines("GET", "/api/now", { ...known(), host: name }))).status).toBe(200);
});

describe("another name leads nowhere (DNS rebinding)", () => {
  const names = [
    "evil.example:PORT",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    "127.0.0.1:PORT.evil.example",
    "127.0.0.1.evil.example:PORT",
    "LOCALHOST:PORT",
    "localhost.:PORT",
    "0.0.0.0:PORT",
    "127.1:PORT",
    "user@127.0.0.1:PORT",
    "",
  ];
  test.each(names)("Host: %s", async (name) => {
    for (const target of ["/", "/api/now", "/page/style.css", "/session"]) {
      const heard = await raw(
        dashboard.port,
        lines("GET", target, { ...known(), host: name.replace("PORT", String(dashboard.port)) }),
      );
      expect(heard.status).toBe(403);
      expect(heard.body).not.toContain(place.root);
    }
  });

  test("two names, none, or an older protocol without one", async () => {
    const tricks = [
      `GET /api/now HTTP/1.1\r\nHost: ${host()}\r\nHost: evil.example\r\nauthorization: ${client.authorization}\r\n\r\n`,
      `GET /api/now HTTP/1.1\r\nHost: evil.example\r\nHost: ${host()}\r\nauthorization: ${client.authorization}\r\n\r\n`,
      `GET /api/now HTTP/1.1\r\nauthorization: ${client.authorization}\r\n\r\n`,
      `GET /api/now HTTP/1.0\r\nauthorization: ${client.authorization}\r\n\r\n`,
    ];
    for (const text of tricks) {
      const heard = await raw(dashboard.port, text);
      expect([400, 403]).toContain(heard.status);
      expect(heard.body).not.toContain(place.root);
    }
  });
});

describe("paths are taken as they are written", () => {
  const CROOKED = [
    "/x/../api/now",
    "/../api/now",
    "/api/./now",
    "/api/now/..",
    "//api/now",
    "/api//now",
    "/api%2fnow",
    "/%61pi/now",
    "/api/now%00",
    "/api\\now",
    "/api/now#x",
    "/api/now;x",
    "http://evil.example/api/now",
    "http://127.0.0.1/api/now",
    "/page/../../../../etc/passwd",
    "/page/..%2f..%2fetc/passwd",
  ];
  const ABSENT = ["/api/now/", "/API/now", "/page/style.css/", "/etc/passwd", "/.git/config", "/constructor"];
  const targets = [...CROOKED, ...ABSENT, "/api/constructor", "/api/__proto__"];
  test.each(targets)("%s", async (target) => {
    const heard = await raw(dashboard.port, lines("GET", target, known()));
    expect(heard.status).toBe(CROOKED.includes(target) ? 400 : 404);
    expect(heard.body).not.toContain(place.root);
    expect(heard.body).not.toContain("root:");
  });

  test("a NUL in the line, or in a query", async () => {
    for (const target of ["/api/now\0", "/api/run?project=%00", `/api/run?id=${run}%00`]) {
      const heard = await raw(dashboard.port, lines("GET", target, known()), 1_000);
      expect([0, 400, 404]).toContain(heard.status);
      expect(heard.body).not.toContain(place.root);
    }
  });
});

describe("nobody else writes", () => {
  const page = () => ({ ...PAGE(dashboard.origin), ...known() });
  const without = (name: string) => Object.fromEntries(Object.entries(page()).filter(([key]) => key !== name));
  const attacks: [string, () => Record<string, string>][] = [
    [
      "a form of another site",
      () => ({
        ...known(),
        origin: "http://evil.example",
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "cross-site",
      }),
    ],
    ["a form without an origin", () => ({ ...known(), "content-type": "application/x-www-form-urlencoded" })],
    ["text/plain that looks like JSON", () => ({ ...page(), "content-type": "text/plain" })],
    ["JSON by the name of another type", () => ({ ...page(), "content-type": "text/plain; application/json" })],
    ["no content type", () => without("content-type")],
    ["no custom header", () => without("x-pawl")],
    ["another value of it", () => ({ ...page(), "x-pawl": "2" })],
    ["no origin", () => without("origin")],
    ["origin null", () => ({ ...page(), origin: "null" })],
    ["a fetch from another site", () => ({ ...page(), origin: "http://evil.example" })],
    ["another port of this machine", () => ({ ...page(), origin: "http://127.0.0.1:1" })],
    ["the same host under another name", () => ({ ...page(), origin: `http://localhost:${dashboard.port}` })],
    ["https", () => ({ ...page(), origin: dashboard.origin.replace("http:", "https:") })],
    ["the browser says cross-site", () => ({ ...page(), "sec-fetch-site": "cross-site" })],
    ["the browser says same-site", () => ({ ...page(), "sec-fetch-site": "same-site" })],
    ["a packed body", () => ({ ...page(), "content-encoding": "gzip" })],
    ["no token", () => without("authorization")],
    ["another token", () => ({ ...page(), authorization: `Bearer ${"0".repeat(64)}` })],
    ["half of the token", () => ({ ...page(), authorization: client.authorization.slice(0, -32) })],
    ["the token and more", () => ({ ...page(), authorization: `${client.authorization}0` })],
    ["two tokens", () => ({ ...page(), Authorization: "Bearer x" })],
    ["the token by another scheme", () => ({ ...page(), authorization: `Basic ${dashboard.token}` })],
    ["the token as a cookie", () => ({ ...without("authorization"), cookie: cookies() })],
  ];
  test.each(attacks)("%s", async (_name, headers) => {
    const heard = await raw(dashboard.port, lines("POST", "/api/act", headers(), answer()));
    expect([400, 401, 403, 415]).toContain(heard.status);
    expect(heard.head.toLowerCase()).not.toContain("access-control");
    expect(waits()).toBe(true);
  });

  test("reading is the page's own, too", async () => {
    for (const more of [
      { origin: "http://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ])
      for (const target of ["/api/now", "/api/live", "/"])
        expect(
          (await raw(dashboard.port, lines("GET", target, { ...known(), ...more } as Record<string, string>))).status,
        ).toBe(403);
    for (const target of [
      "/api/now",
      "/api/runs",
      `/api/run?project=${place.root}&id=${run}`,
      "/api/journal",
      "/api/live",
      "/api/nothing",
    ]) {
      for (const key of [{}, { authorization: "Bearer " }, { authorization: "Bearer x" }, { cookie: cookies() }]) {
        const heard = await raw(dashboard.port, lines("GET", target, { host: host(), ...key }));
        expect(heard.status).toBe(401);
        expect(heard.body).not.toContain(place.root);
      }
    }
  });

  test("a GET never acts", async () => {
    const query = new URLSearchParams(JSON.parse(answer())).toString();
    expect((await raw(dashboard.port, lines("GET", `/api/act?${query}`, known()))).status).toBe(404);
    expect(waits()).toBe(true);
  });
});

test.each(["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH"])("%s is refused", async (method) => {
  for (const target of ["/", "/api/now", "/api/act", "/session"]) {
    const preflight = { "access-control-request-method": "POST", "access-control-request-headers": "x-pawl" };
    const heard = await raw(dashboard.port, lines(method, target, { ...known(), ...preflight }));
    expect(heard.status).toBe(405);
    expect(heard.head.toLowerCase()).not.toContain("access-control");
    expect(heard.body).not.toContain(dashboard.token);
  }
});

test("every answer carries the same strict headers", async () => {
  const answers = await Promise.all(
    ["/", "/api/now", "/nothing", "/api/nothing", "/x/../y"].map((target) =>
      raw(dashboard.port, lines("GET", target, known())),
    ),
  );
  answers.push(await raw(dashboard.port, lines("GET", "/", { host: "evil.example" })));
  for (const { head } of answers) {
    const text = head.toLowerCase();
    expect(text).toContain(
      "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    for (const line of [
      "x-content-type-options: nosniff",
      "cache-control: no-store",
      "referrer-policy: no-referrer",
      "cross-origin-opener-policy: same-origin",
      "cross-origin-resource-policy: same-origin",
    ])
      expect(text).toContain(line);
    expect(text).not.toContain("access-control");
    expect(text).not.toContain("server:");
    expect(text).not.toContain("set-cookie");
  }
});
