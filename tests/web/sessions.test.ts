/** Tokens and cookies over time, which no test can wait for. */
import { describe, expect, test } from "bun:test";
import { openSessions } from "../../src/web/security.ts";

const START = 1_000_000;
const open = () => openSessions(() => 1);
const cookieOf = (cookie: string) => cookie.split(";")[0]!;
const refused = (status: number, headers = {}) => expect.objectContaining({ status, headers });

test("the printed token serves every browser, each with a cookie of its own", () => {
  const sessions = open();
  const cookies = [1, 2, 3].map((n) => cookieOf(sessions.exchange(sessions.token, START + n)));
  expect(new Set(cookies).size).toBe(3);
  for (const cookie of cookies) expect(sessions.isKnown(`other=1; ${cookie}; more=2`)).toBe(true);
  expect(sessions.isKnown("")).toBe(false);
  expect(sessions.isKnown("pawl-1=")).toBe(false);
  expect(sessions.isKnown(cookies[0]!.replace("pawl-1", "pawl-2"))).toBe(false);
});

describe("the ticket for the browser that is opened", () => {
  test("counts once", () => {
    const sessions = open();
    const ticket = sessions.ticket(START);
    expect(ticket).not.toBe(sessions.token);
    expect(sessions.exchange(ticket, START + 1)).toStartWith("pawl-1=");
    expect(() => sessions.exchange(ticket, START + 2)).toThrow(refused(401));
  });
  test("and not for long", () => {
    const sessions = open();
    const ticket = sessions.ticket(START);
    expect(() => sessions.exchange(ticket, START + 121_000)).toThrow(refused(401));
  });
});

test("who guessed too often waits; then the right token counts again", () => {
  const sessions = open();
  for (let n = 0; n < 10; n++) expect(() => sessions.exchange(`wrong ${n}`, START + n)).toThrow(refused(401));
  expect(() => sessions.exchange(sessions.token, START + 20_000)).toThrow(refused(429, { "retry-after": "10" }));
  expect(sessions.exchange(sessions.token, START + 30_010)).toStartWith("pawl-1=");
});
