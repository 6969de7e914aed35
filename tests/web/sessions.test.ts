/** The token, and tickets over time, which no test can wait for. */
import { describe, expect, test } from "bun:test";
import { openSessions } from "../../src/web/security.ts";

const START = 1_000_000;
const refused = expect.objectContaining({ status: 401 });

test("the printed token serves every browser, and is said as it is", () => {
  const sessions = openSessions();
  for (const n of [1, 2, 3]) expect(sessions.exchange(sessions.token, START + n)).toBe(sessions.token);
  expect(sessions.isKnown(`Bearer ${sessions.token}`)).toBe(true);
  for (const other of [
    "",
    "Bearer",
    "Bearer ",
    sessions.token,
    `bearer ${sessions.token}`,
    `Bearer ${sessions.token} `,
  ])
    expect(sessions.isKnown(other)).toBe(false);
});

describe("the ticket for the browser that is opened", () => {
  test("counts once, and never with a request", () => {
    const sessions = openSessions();
    const ticket = sessions.ticket(START);
    expect(ticket).not.toBe(sessions.token);
    expect(sessions.isKnown(`Bearer ${ticket}`)).toBe(false);
    expect(sessions.exchange(ticket, START + 1)).toBe(sessions.token);
    expect(() => sessions.exchange(ticket, START + 2)).toThrow(refused);
  });
  test("and not for long", () => {
    const sessions = openSessions();
    const ticket = sessions.ticket(START);
    expect(() => sessions.exchange(ticket, START + 121_000)).toThrow(refused);
  });
  test("counts after any number of wrong ones", () => {
    const sessions = openSessions();
    const ticket = sessions.ticket(START);
    for (let n = 0; n < 1_000; n++) expect(() => sessions.exchange(`wrong ${n}`, START)).toThrow(refused);
    expect(sessions.exchange(ticket, START + 1)).toBe(sessions.token);
  });
});
