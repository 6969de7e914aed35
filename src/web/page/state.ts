/** What is on the screen. Every change draws the page again. */
import type { ComponentChildren } from "preact";
import { attempt } from "../../kernel/attempt.ts";
import type { PageName, Query, View } from "./route.ts";

export type Screen =
  | { kind: "starting" | "locked" }
  | { kind: "failed"; why: string; place: string }
  // biome-ignore lint/suspicious/noExplicitAny: each view gets the data that it loaded itself
  | { kind: "page"; view: View<any>; data: unknown; text: string; query: Query; place: string };

export const THEMES = ["system", "light", "dark"] as const;

export interface State {
  screen: Screen;
  page: PageName;
  connection: "starting" | "live" | "offline";
  readOnly: boolean;
  /** how much of the journals is read; null: all of it */
  percent: number | null;
  theme: (typeof THEMES)[number];
  /** for those who listen to the page instead of looking at it */
  announced: string;
  dialog: ComponentChildren;
}

const THEME = "pawl-theme";

export let state: State = {
  screen: { kind: "starting" },
  page: "now",
  connection: "starting",
  readOnly: false,
  percent: null,
  theme: rememberedTheme(),
  announced: "",
  dialog: null,
};

let draw: () => void = () => {};

export function startDrawing(how: () => void): void {
  draw = how;
  draw();
}

export function update(part: Partial<State>): void {
  state = { ...state, ...part };
  draw();
}

export const announce = (announced: string) => update({ announced });

// ── Dialogs ─────────────────────────────────────────────────────────────────

let opener: Element | null = null;

export function openDialog(dialog: ComponentChildren): void {
  opener = document.activeElement;
  update({ dialog });
}

/** The page may have changed under the dialog: then the focus goes to its title. */
export function closeDialog(): void {
  update({ dialog: null });
  const place = opener?.isConnected ? opener : document.querySelector("main h1");
  if (place instanceof HTMLElement) place.focus();
}

// ── Light and dark ──────────────────────────────────────────────────────────

export function nextTheme(): void {
  const theme = THEMES[(THEMES.indexOf(state.theme) + 1) % THEMES.length]!;
  // A browser that keeps nothing can still show it.
  attempt(() => localStorage.setItem(THEME, theme), null);
  update({ theme, announced: `Theme: ${theme}` });
}

function rememberedTheme(): State["theme"] {
  const kept = attempt(() => localStorage.getItem(THEME), null);
  return THEMES.find((theme) => theme === kept) ?? "system";
}
